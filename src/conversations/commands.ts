import type { App } from '../app.ts';
import type { OpenForm } from '../core/form.ts';
import type { AnswerCommand } from '../core/feature.ts';
import { requesterOf, type Message } from '../core/message.ts';
import { plainWord } from '../core/plain-words.ts';
import { sayIn } from '../core/texts/say.ts';
import { typoOf, oneLine, inlineCode } from '../lib/text/text.ts';
import { toSenderAlone } from '../replies/replies.ts';
import { completeChat, resolveCommand, type Resolved } from './judge-message.ts';
import type { Overview, WriteHere } from './overview.ts';
import { ownCommands } from './own-commands.ts';
import type { FeatureParts } from './parts-of-features.ts';
import { isReadByOwnerAlone } from './refuse-skill.ts';
import { workHere } from './stop-work.ts';

export type Commands = Readonly<{
  /** Answers a built-in command without waiting for the queue (Q4). Returns false if the message is no such command. */
  atOnce(message: Message, openForm?: OpenForm): Promise<boolean>;
  resolve(message: Message): Promise<Resolved | undefined>;
  /**
   * In a direct message, returns an answer to a mistyped command. Undefined: the message is an ordinary one (I3, A11).
   */
  unknown(message: Message): Promise<string | undefined>;
}>;

/** Throws if a row of a command has no answer, or an answer no row. */
export function createCommands(app: App, overview: Overview, features: FeatureParts): Commands {
  const { runtime, store, users, accessOf, channels, library, replies } = app;
  const { usable } = overview;
  const seen = store.keyed('commands');
  const own: Partial<Record<string, AnswerCommand>> = ownCommands(app, overview, features);
  const answered = new Set([...inQueue, ...Object.keys(own), ...features.commands]);
  const odd = [...answered.symmetricDifference(new Set(app.chatCommands.names))];
  if (odd.length > 0) throw new Error(`a row or an answer is missing: ${odd.join(', ')}`);

  function answerOf(asked: Resolved | undefined): AnswerCommand | undefined {
    if (asked?.kind !== 'built-in') return undefined;
    return own[asked.name] ?? features.command(asked.name, asked.args);
  }

  function writeIn({ conversation }: Message): WriteHere {
    return (name, args) => app.writeCommand(conversation, name, args);
  }

  /** Reads a lone "stop" in any language as `/stop` if this person has running or waiting work (H11). */
  async function withPlainStop(message: Message): Promise<Message> {
    if (
      (message.command !== undefined && message.command.bare !== true) ||
      plainWord(message.text) !== 'stop'
    )
      return message;
    const { running, waiting } = await workHere(message, store.inbox);
    const isTheirs = [...running, ...waiting].some((item) => item.message?.sender.id === message.sender.id);
    return isTheirs ? { ...message, command: { name: 'stop', args: '' } } : message;
  }

  /** Own commands and skills come before tools of the same name (X9). */
  async function toolOf(message: Message): Promise<Resolved | undefined> {
    const { name = '', args = '' } = message.command ?? {};
    const offered = await app.outside.offered(requesterOf(message), 'person');
    const called = name.replaceAll('-', '_');
    const tool = offered.find(({ command }) => command?.name === called);
    if (tool?.command === undefined) return undefined;
    return { kind: 'tool', tool: tool.name, command: tool.command, args };
  }

  async function resolve(message: Message): Promise<Resolved | undefined> {
    const { command } = message;
    // A bare "settings key value" must not reach the model: the value may be a secret.
    const isBare = command?.bare === true && app.chatCommands.row(command.name) !== undefined;
    if (isBare && features.isMeant(command.name, command.args))
      return { kind: 'built-in', name: command.name, args: command.args };
    const use = await accessOf(message);
    const reader = { toOwner: command !== undefined && (await isReadByOwnerAlone(message, users)) };
    const { chatCommands: commands } = app;
    const known = { commands, registry: library.current() };
    const asked = resolveCommand(message, known, runtime().rules, use, reader);
    if (!namesNothing(message, asked)) return asked;
    const tool = asked === undefined ? await toolOf(message) : undefined;
    if (tool !== undefined) return tool;
    const registry = await library.rescan();
    return resolveCommand(message, { commands, registry }, runtime().rules, use, reader);
  }

  return {
    resolve,
    async atOnce(written, openForm) {
      const event = await withPlainStop(written);
      if (event.command === undefined) return false;
      const first = await resolve(event);
      if (answerOf(first) === undefined) return false;
      if ((await seen.get(event.id)) !== undefined) return true;
      const message = await completeChat(event, channels);
      // Slack tells the chat type only on a look-up, so what the command means is decided again with it.
      const asked = message === event ? first : await resolve(message);
      const answered = answerOf(asked);
      if (answered === undefined || asked?.kind !== 'built-in') return false;
      const answer = await answered(message, asked.args, { write: writeIn(message), openForm });
      if (answer === undefined) return false;
      await app.answered.add(message);
      // The answer is empty if a stopped turn reports its end itself.
      const alone = app.chatCommands.row(asked.name)?.alone === true ? toSenderAlone(message) : {};
      if (answer.text !== '') await replies.answer(message, answer.text, { ...alone, ...answer.more });
      await seen.set(message.id, true, rememberMs);
      return true;
    },
    async unknown(message) {
      const [, mark, name] = /^\s*([/!])(\S+)/.exec(message.text) ?? [];
      if (message.command === undefined || message.chatType !== 'private') return undefined;
      if (mark === undefined || name === undefined) return undefined;
      const write = writeIn(message);
      const skills = (await usable(message)).map((skill) => skill.name);
      const offered = await app.outside.offered(requesterOf(message), 'person');
      const named = [...skills, ...offered.flatMap(({ command }) => command?.name ?? [])];
      const isAlone = message.command.args === '';
      // "/tmp is full" is no command, nor is any other word that is not clearly mistyped (I3).
      const guess = typoOf(message.command.name, isAlone ? [...app.chatCommands.names, ...named] : named);
      if (guess === undefined) return undefined;
      const say = sayIn(message.sender.language);
      return [
        say`I don’t know the command ${inlineCode(oneLine(`${mark}${name}`, 64))}.`,
        say`Did you mean ${write(guess)}?`,
        say`${write('help')} lists what I know. To send it as a message, leave out the ${inlineCode(mark)}.`,
      ].join(' ');
    },
  };
}

/** Whether the command names no known skill or command. Words after a mention are rarely meant as a name (I1). */
function namesNothing({ command }: Message, asked: Resolved | undefined): boolean {
  if (command === undefined) return false;
  if (asked === undefined) return command.bare !== true;
  return asked.kind === 'built-in' && asked.name === 'skill' && asked.args !== '';
}

/** Commands that are answered in their turn in the queue. */
const inQueue: ReadonlySet<string> = new Set(['new', 'clear']);

/** How long a command counts as answered: platforms may send it again until then (Q2). */
const rememberMs = 7 * 24 * 3_600_000;
