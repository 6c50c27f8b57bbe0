import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { noFileToFetch } from '../save-file.ts';
import { createScreen, type Output } from './create-screen.ts';
import { createAnswerCost, type AnswerSpending } from './answer-cost.ts';
import type { History } from './history.ts';
import { safeLine, toAnsi } from './from-markdown.ts';
import { readMessages, type Typed } from './read-messages.ts';
import type {
  Button,
  Channel,
  ChannelEvent,
  OnEvent,
  OutgoingPart,
  Part,
  ChatStatus,
} from '../../core/channel.ts';
import type { ChatType, Conversation } from '../../core/conversation.ts';
import { SendError } from '../../core/errors.ts';
import { parseCommand } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { byteSize, hasVisible } from '../../lib/text/text.ts';

const shortForms: Readonly<Record<string, readonly string[]>> = {
  y: ['yes', 'approve'],
  yes: ['yes', 'approve'],
  n: ['no', 'deny'],
  no: ['no', 'deny'],
  a: ['always'],
};

/** Milliseconds within which a second Ctrl-C leaves. */
const leaveMs = 2000;

export type TerminalOptions = Readonly<{
  screen: Readonly<{
    input: Readable & Readonly<{ isTTY?: boolean }>;
    output: Output;
    colour: boolean;
  }>;
  who: Readonly<{
    /** Name of the user, who is the sender `terminal:USER`. */
    user: string;
    /** The kind of chat. A private one is the user's own; the others are `group` and `channel`. */
    as: ChatType;
  }>;
  typing: Readonly<{
    /** What can be completed after a `/`. */
    completions(): readonly string[];
    /** If true, the whole input is one message. */
    whole?: boolean;
    /** Lines typed before; only used on a terminal. */
    history?: History | undefined;
  }>;
  bot?: Readonly<{
    spent?(): Promise<AnswerSpending | undefined>;
    /** Stops the work at Ctrl-C; false if nothing was running. */
    cancel?(): Promise<boolean>;
    /** Awaited between piped lines, and at the end of the input. */
    idle?(): Promise<void>;
  }>;
  clock: Clock;
  log: Log;
}>;

export type Terminal = Omit<Channel, 'status'> &
  Readonly<{
    /** Shows what the bot does, which needs no placeholder here. */
    status(conversation: Conversation, status: ChatStatus | undefined): Promise<void>;
    conversation: Conversation;
    note(line: string): void;
    /** Resolves when the person left, or when a pipe has ended and was answered. */
    closed: Promise<void>;
  }>;

export function createTerminal(options: TerminalOptions): Terminal {
  const { typing, bot = {}, clock, log } = options;
  const { input, output, colour } = options.screen;
  const { user, as } = options.who;
  const conversation: Conversation = { channel: 'terminal', chat: as === 'private' ? user : as };
  const sender = { id: `terminal:${user}`, name: user, kind: 'person' } as const;
  const closed = Promise.withResolvers<void>();
  let typed: Typed | undefined;
  const screen = createScreen(output, () => typed?.editor());
  let stopped = false;
  let leaving = false;
  let handling: Promise<void> = Promise.resolve();
  let interruptedAt = -Infinity;
  const cost = createAnswerCost(async () => bot.spent?.(), clock);
  let costLine: string | undefined;
  /** Resolved when the bot asks something, for a pipe whose next line is the answer. */
  let question = Promise.withResolvers<void>();
  let asked: Readonly<{ handle: number; buttons: readonly Button[] }> | undefined;

  function toEvent(text: string): ChannelEvent {
    const choice = asked && findChoice(asked.buttons, text);
    const common = { conversation, chatType: as, external: false, sender };
    if (asked === undefined || choice === undefined)
      return { type: 'message', message: { ...common, ...typedMessage(text), sentAt: clock.now() } };
    const receipt = { id: String(asked.handle) };
    asked = undefined;
    return { type: 'press', press: { ...common, id: randomUUID(), action: choice.action, receipt } };
  }

  async function handle(text: string, onEvent: OnEvent): Promise<void> {
    try {
      question = Promise.withResolvers();
      costLine = undefined;
      if (typed?.editor() !== undefined) cost.asked();
      await onEvent(toEvent(text));
      if (stopped || typed?.editor() !== undefined) return;
      await Promise.race([bot.idle?.(), question.promise]);
    } catch (error) {
      log.error({ err: error }, 'could not store what was typed');
      await screen.print('That could not be stored. Please try again.').catch(leave);
    }
  }

  function leave(): void {
    closed.resolve();
  }

  function leaveWhenAnswered(): void {
    const answered = handling.then(() => (stopped ? undefined : bot.idle?.()));
    answered.then(leave, (error: unknown) => {
      log.error({ err: error }, 'some messages have no answer');
      leave();
    });
  }

  function interrupt(): void {
    const now = clock.now();
    if (now - interruptedAt < leaveMs) return leave();
    interruptedAt = now;
    const stops = bot.cancel?.() ?? Promise.resolve(false);
    stops.then((stopped) => screen.print(`${stopped ? 'Stopped. ' : ''}Ctrl-C again leaves.`)).catch(leave);
  }

  function shownAs(status: ChatStatus): string {
    if (status.kind === 'typing') return '…';
    if (status.kind === 'line') return safeLine(status.text);
    const width = screen.width();
    return toAnsi(status.markdown, { colour, width });
  }

  /** Shows the cost below the answer, until the next one begins. */
  function showCost(): void {
    if (typed?.editor() === undefined) return;
    cost.line().then(
      (line) => {
        if (stopped || line === undefined) return;
        costLine = safeLine(line);
        screen.status(costLine);
      },
      (error: unknown) => log.debug({ err: error }, 'what an answer cost is not known'),
    );
  }

  async function show(part: Part, print: (text: string) => Promise<number>): Promise<number> {
    const width = screen.width();
    const text = toAnsi(part.markdown, { colour, width });
    const buttons = part.buttons ?? [];
    try {
      const handle = await print(buttons.length === 0 ? text : `${text}\n${listButtons(buttons)}`);
      if (buttons.length > 0) {
        asked = { handle, buttons };
        question.resolve();
      } else if (asked?.handle === handle) asked = undefined;
      return handle;
    } catch (error) {
      leave();
      throw new SendError('refused', 'the terminal is gone', { cause: error });
    }
  }

  return {
    name: 'terminal',
    conversation,
    note: (line) => void screen.above(safeLine(line)).catch(leave),
    closed: closed.promise,
    async start(onEvent) {
      // Without a listener a closed pipe would end the process. The failed write reports it.
      output.on('error', leave);
      typed = readMessages({
        input,
        output,
        prompt: `${safeLine(user)}> `,
        whole: typing.whole === true,
        history: typing.history,
        completions: typing.completions,
        onLine: (text) => screen.prompt(text),
        onText(text) {
          if (leaving) return;
          leaving = ['exit', 'quit'].includes(parseCommand(text)?.name ?? '');
          if (!leaving) handling = handling.then(() => handle(text, onEvent));
          else if (typed?.editor() !== undefined) leave();
          // A pipe is read faster than it is answered.
          else leaveWhenAnswered();
        },
        onInterrupt: interrupt,
        onEnd: leaveWhenAnswered,
      });
      screen.prompt();
    },
    async stop() {
      stopped = true;
      screen.status(undefined);
      typed?.close();
      leave();
      await handling;
      output.off('error', leave);
    },
    split: async (markdown) => (hasVisible(markdown) ? [markdown] : []),
    files: { largest: Infinity, fitsCaption: () => true },
    async send(_, part, _key, begin) {
      await begin?.();
      const handle = await show(withPath(part), (text) => screen.print(text));
      showCost();
      return { id: String(handle) };
    },
    find: async () => undefined,
    async edit(_, receipt, part) {
      const handle = Number(receipt.id);
      await show(part, async (text) => {
        await screen.reprint(handle, text);
        return handle;
      });
    },
    // The status disappears by itself, and prints stay.
    remove: async () => undefined,
    async status(_, status) {
      screen.status(status === undefined ? costLine : shownAs(status));
    },
    fetchFile: noFileToFetch,
    setMenus: async () => [],
    lookUpChat: async () => ({ chatType: as, external: false }),
    command: (_, name, args = '') => `\`${`/${name} ${args}`.trim()}\``,
    directLink: () => undefined,
  };
}

function typedMessage(text: string) {
  const command = parseCommand(text);
  return {
    id: `terminal:${randomUUID()}`,
    text: text.trim(),
    addressed: true,
    command: command === undefined ? undefined : { name: command.name, args: command.args },
    attachments: [],
  };
}

/** The part with the path of its file, because a terminal shows where that is. */
function withPath({ file, markdown, ...part }: OutgoingPart): Part {
  if (file === undefined) return { ...part, markdown };
  const line = `\`${file.name}\` (${byteSize(file.size)}): \`${file.path}\``;
  return { ...part, markdown: markdown === '' ? line : `${markdown}\n\n${line}` };
}

type Choice = Extract<Button, { action: string }>;

/** Lists buttons: choices with a number, links with their address. */
function listButtons(buttons: readonly Button[]): string {
  const choices = choicesOf(buttons);
  return buttons
    .map((button) =>
      'url' in button
        ? `  ${safeLine(button.label)}: ${safeLine(button.url)}`
        : `  [${choices.indexOf(button) + 1}] ${safeLine(button.label)}`,
    )
    .join('\n');
}

/** The choice that a line names: by number, by label in any case, or by `y`, `n` or `a`. */
function findChoice(buttons: readonly Button[], line: string): Choice | undefined {
  const choices = choicesOf(buttons);
  const said = line.trim().toLowerCase();
  const byNumber = /^\d+$/.test(said) ? choices[Number(said) - 1] : undefined;
  const labels = shortForms[said] ?? [said];
  return byNumber ?? choices.find(({ label }) => labels.includes(safeLine(label).toLowerCase()));
}

function choicesOf(buttons: readonly Button[]): readonly Choice[] {
  return buttons.filter((button) => 'action' in button);
}
