import { Readable } from 'node:stream';
import { z } from 'zod';
import {
  connectControl,
  controlPath,
  joinRequest,
  readJsonLines,
  refusalOf,
  writeJsonLine,
} from '../channels/terminal/control.ts';
import type { AnswerSpending } from '../channels/terminal/answer-cost.ts';
import { historyFile, openHistory } from '../channels/terminal/history.ts';
import { createTerminal, type Terminal } from '../channels/terminal/create-terminal.ts';
import { createPeer, type PeerAnswers } from '../channels/terminal/peer.ts';
import { openConfig, openOperatorConfig } from './open-config.ts';
import { openLog, type OpenLog } from './open-log.ts';
import type { SharedOptions } from './command.ts';
import { print } from './console.ts';
import { passStartChecks } from '../operator/check-start.ts';
import type { Config } from '../config/complete-config.ts';
import type { ChannelEvent } from '../core/channel.ts';
import type { ChatType } from '../core/conversation.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { terminalOwner } from '../core/access-settings.ts';
import type { TerminalRequest } from '../operator/terminals/take-terminal.ts';
import type { Seated, Told, TerminalView } from '../operator/terminals/terminals.ts';
import { storedPart, storedReceipt } from '../store/stored-message.ts';

const shown = z.object({ receipt: storedReceipt, part: storedPart });

const withPath = z.object({
  file: z.object({ path: z.string() }).optional(),
  more: z.undefined().optional(),
});

const sent = z.object({ part: z.intersection(storedPart, withPath), key: z.string() });

const receiptOnly = z.object({ receipt: storedReceipt });

const status = z.object({
  status: z
    .union([
      z.object({ kind: z.literal('typing') }),
      z.object({ kind: z.literal('line'), text: z.string() }),
      z.object({ kind: z.literal('words'), markdown: z.string() }),
    ])
    .optional(),
});

const spent: z.ZodType<AnswerSpending> = z.object({ model: z.string(), tokens: z.number(), usd: z.number() });

const here = { channel: 'terminal', chat: '' };

type Host = Readonly<{
  names(): readonly string[];
  tell(told: Told): Promise<void>;
  cancel(): Promise<boolean>;
  idle(): Promise<void>;
  spent(): Promise<AnswerSpending>;
}>;

/** Opens a terminal of the running bot, or of a bot that runs in this process (H5, Q9). */
export async function chat({ config: flag, once, as, user = terminalOwner }: ChatOptions): Promise<void> {
  const config = await openOperatorConfig(flag);
  const { log, redactBy, writeBy } = openLog(config, config.log.level === 'info' ? 'warn' : config.log.level);
  // Scripts hear of failures at once, so only a person is patient.
  const who: Seated = { user, as, patient: once === undefined && Boolean(process.stdin.isTTY) };
  const options = { config, who, once, log, writeBy };
  if (await chatWithRunning(options)) return;
  await chatHere({ ...options, config: await openConfig(flag), redactBy });
}

type ChatOptions = SharedOptions & Readonly<{ once?: string; as: ChatType; user?: string }>;

type Options = Readonly<{ config: Config; who: Seated; once: string | undefined; log: Log }> &
  Pick<OpenLog, 'writeBy'>;

/** Chats with the running bot. Resolves to false when none runs. */
async function chatWithRunning(options: Options): Promise<boolean> {
  const { config, who, log } = options;
  const view = Promise.withResolvers<TerminalView>();
  const link = await openTerminalLink(controlPath(config.bot.dataDir), who, view.promise);
  if (link === undefined) return false;
  let names: readonly string[] = [];
  const learn = (): void =>
    void link.names().then(
      (now) => (names = now),
      (error: unknown) => log.debug({ err: error }, 'no names to complete'),
    );
  learn();
  const terminal = openTerminal(options, {
    ...link,
    // Skills change, so the names are asked for again, for the next completion.
    names: () => (learn(), names),
    idle: () => link.idle().catch(() => undefined),
  });
  greet(options);
  await terminal.start(tellBy(link));
  view.resolve(terminal);
  await Promise.race([terminal.closed, link.ended]);
  const answered = await link.leave().catch(() => undefined);
  await terminal.stop();
  link.close();
  if (answered === undefined)
    console.error(
      link.refusal() ?? 'The bot has ended. What you wrote is kept, and answered when it runs again.',
    );
  if (answered !== true) process.exitCode = 1;
  return true;
}

async function chatHere(options: Options & Pick<OpenLog, 'redactBy'>): Promise<void> {
  const { config, who, log, redactBy } = options;
  await passStartChecks(config, log);
  // Loaded late, because it is not needed if a bot runs.
  const { openBot } = await import('../bot/open-bot.ts');
  const bot = await openBot({ config, env: process.env, channels: async () => [], log });
  redactBy(bot.redact);
  // The seat needs the terminal and the terminal needs the seat.
  const shows = Promise.withResolvers<TerminalView>();
  const seat = bot.sit(who, {
    send: async (...args) => (await shows.promise).send(...args),
    edit: async (...args) => (await shows.promise).edit(...args),
    remove: async (...args) => (await shows.promise).remove(...args),
    status: async (...args) => (await shows.promise).status(...args),
  });
  const terminal = openTerminal(options, { ...seat, names: bot.names, spent: () => bot.spentBy(who) });
  greet(options);
  await bot.start();
  if (!who.patient) await bot.toolsSeen();
  await terminal.start(tellBy(seat));
  shows.resolve(terminal);
  await terminal.closed;
  const { lost, unanswered } = seat.leave();
  // The person has seen that they failed, so they need not stay as dead letters.
  for (const key of lost) await bot.operate('inbox drop', key);
  if (unanswered || lost.length > 0) process.exitCode = 1;
  await terminal.stop();
  await bot.close();
}

function openTerminal({ who, once, log, writeBy }: Options, host: Host): Terminal {
  const file = process.stdin.isTTY ? historyFile(process.env) : undefined;
  const terminal = createTerminal({
    screen: {
      input: once === undefined ? process.stdin : Readable.from([once]),
      output: process.stdout,
      colour: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
    },
    who,
    typing: {
      completions: host.names,
      whole: once !== undefined,
      history: file === undefined ? undefined : openHistory(file),
    },
    bot: {
      cancel: () =>
        host.cancel().catch((error: unknown) => {
          log.debug({ err: error }, 'nothing could be stopped');
          return false;
        }),
      idle: host.idle,
      spent: () => host.spent().catch(() => undefined),
    },
    clock: systemClock,
    log,
  });
  if (!process.stdin.isTTY || !process.stdout.isTTY || !process.stderr.isTTY) return terminal;
  // Shows log lines through the terminal, so that they don't break the line being typed.
  return {
    ...terminal,
    async start(onEvent) {
      await terminal.start(onEvent);
      writeBy(terminal.note);
    },
    async stop() {
      writeBy(undefined);
      await terminal.stop();
    },
  };
}

function tellBy({ tell }: Pick<Host, 'tell'>): (event: ChannelEvent) => Promise<void> {
  return async (event) => {
    if (event.type === 'message') {
      const { id, text, command, sentAt } = event.message;
      await tell({ message: { id, text, command, sentAt } });
    }
    if (event.type === 'press') {
      const { id, action, receipt } = event.press;
      await tell({ press: { id, action, receipt } });
    }
  };
}

function greet({ config, who, once }: Options): void {
  if (once !== undefined || !process.stdin.isTTY) return;
  print(`${config.bot.name} · terminal:${who.user}, ${who.as} chat · /help, /skills · /exit leaves`);
}

/** The connection of this terminal to the running bot. Calls reject once the bot has ended (Q9). */
type TerminalLink = Readonly<{
  names(): Promise<readonly string[]>;
  spent(): Promise<AnswerSpending>;
  tell(told: Told): Promise<void>;
  idle(): Promise<void>;
  cancel(): Promise<boolean>;
  /** Leaves the bot. True if everything was answered. */
  leave(): Promise<boolean>;
  ended: Promise<void>;
  /** Why the bot did not take this terminal. Undefined if it did. */
  refusal(): string | undefined;
  close(): void;
}>;

/** Connects to the running bot. Undefined if no bot listens. What the bot shows waits for `view`. */
async function openTerminalLink(
  socketPath: string,
  who: TerminalRequest,
  view: Promise<TerminalView>,
): Promise<TerminalLink | undefined> {
  const socket = await connectControl(socketPath);
  if (socket === undefined) return undefined;
  const answers: PeerAnswers = {
    send: async (line) => {
      const { part, key } = sent.parse(line);
      return (await view).send(here, part, key);
    },
    edit: async (line) => {
      const { receipt, part } = shown.parse(line);
      await (await view).edit(here, receipt, part);
    },
    remove: async (line) => (await view).remove(here, receiptOnly.parse(line).receipt),
    status: async (line) => (await view).status(here, status.parse(line).status),
  };
  const peer = createPeer(socket, answers);
  socket.on('error', () => socket.destroy());
  let refusal: string | undefined;
  readJsonLines(socket, (line) => {
    refusal = refusalOf(line);
    if (refusal === undefined) peer.take(line);
  });
  writeJsonLine(socket, joinRequest(who));
  return {
    names: async () => z.array(z.string()).parse(await peer.ask('names')),
    spent: async () => spent.parse(await peer.ask('spent')),
    async tell(told) {
      await peer.ask('tell', told);
    },
    async idle() {
      await peer.ask('idle');
    },
    cancel: async () => z.boolean().parse(await peer.ask('cancel')),
    leave: async () => z.boolean().parse(await peer.ask('leave')),
    ended: peer.ended,
    refusal: () => refusal,
    close: () => socket.destroy(),
  };
}
