import type { Channel, WriteCommand, OpenForm } from '../core/channel.ts';
import { chatIdOf, conversationKey } from '../core/conversation.ts';
import type { SkillUse } from '../access/decide-skill.ts';
import { typoOf, oneLine, inlineCode } from '../lib/text/text.ts';
import type { Message } from '../core/message.ts';
import type { AnswerCommand } from '../core/feature.ts';
import { skillNamed, type Skill } from '../core/skill.ts';
import type { Store } from '../store/store.ts';
import type { AnsweredThreads } from './threads.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { Capabilities } from '../capabilities/create-capabilities.ts';
import { completeChat } from './judge-message.ts';
import { plainWord } from './intake/approve-by-text.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import {
  describeTasks,
  describeSkill,
  helpText,
  listSkills,
  startButtons,
  type Overview,
  type WriteHere,
} from './overview.ts';
import type { Users } from '../access/users.ts';
import { resolveCommand, type Resolved } from './judge-message.ts';
import { builtInCommands, type BuiltIn } from '../core/built-in-commands.ts';
import type { Why } from './why.ts';
import { stopTask, stopWork, tasksHere, workHere } from './stop-work.ts';
import type { Replies } from '../replies/replies.ts';
import { operatorZone } from '../core/local-time.ts';
import { sayIn, type Say } from '../core/texts/say.ts';

export type Commands = Readonly<{
  /** Answers a built-in command without waiting for the queue (Q4). Returns false if the message is no such command. */
  atOnce(message: Message, openForm?: OpenForm): Promise<boolean>;
  resolve(message: Message): Promise<Resolved | undefined>;
  /**
   * In a direct message, returns an answer to a mistyped command. Undefined: the message is an ordinary one (I3, A11).
   */
  unknown(message: Message): Promise<string | undefined>;
}>;

type Registry = Readonly<{
  get(name: string): Skill | undefined;
  skills: readonly Skill[];
  userInvocable: readonly Skill[];
}>;

export function createCommands(deps: {
  host: Readonly<{
    runtime: () => RuntimeConfig;
    store: Pick<
      Store,
      'pendingRequests' | 'inbox' | 'outbox' | 'keyed' | 'signals' | 'commit' | 'stop' | 'usage'
    >;
  }>;
  people: Readonly<{ users: Users; accessOf(message: Message): Promise<SkillUse> }>;
  skills: Readonly<{
    current: () => Registry;
    /** Reads the skill folders again, so that a skill that was just added is found (D7). */
    rescan(): Promise<Registry>;
  }>;
  chat: Readonly<{
    channels: ReadonlyMap<string, Channel>;
    writeCommand: WriteCommand;
    replies: Replies;
    answered: Pick<AnsweredThreads, 'add'>;
  }>;
  /** Answers the commands of all features, by their names. */
  commands: ReadonlyMap<string, AnswerCommand>;
  /** Whether words after a mention set something: they may hold a secret, so they count without a mark. */
  isSetting(args: string): boolean;
  approvals: Pick<Approvals, 'settled'>;
  capabilities: Pick<Capabilities, 'callOff'>;
  overview: Overview;
  why: Pick<Why, 'isAllowed'>;
}): Commands {
  const { runtime, store } = deps.host;
  const { users, accessOf } = deps.people;
  const { channels, writeCommand, replies } = deps.chat;
  const { approvals, capabilities, why, isSetting } = deps;
  const { usable, status } = deps.overview;
  const seen = store.keyed('commands');

  const own: Readonly<Partial<Record<BuiltIn, AnswerCommand>>> = {
    start: async (message, args) => {
      const named = /^skill_(.+)$/.exec(args)?.[1];
      const write = writeIn(message);
      const skill = named === undefined ? undefined : skillNamed(await usable(message), named);
      if (skill !== undefined)
        return { text: describeSkill(skill, write), more: { buttons: startButtons([skill]) } };
      const { name } = runtime().config.bot;
      return {
        text: sayTo(
          message,
        )`Hello, I am ${name}. Write to me, or use a skill: ${write('skills')} lists them, ${write('help')} tells you more.`,
      };
    },
    help: async (message) => ({
      text: helpText(writeIn(message), sayTo(message), message.conversation.channel),
    }),
    skills: async (message) => ({
      text: listSkills(await usable(message), writeIn(message), sayTo(message)),
    }),
    skill: async (message, args) => {
      const skills = await usable(message);
      const list = listSkills(skills, writeIn(message), sayTo(message));
      if (args !== '') return { text: sayTo(message)`There is no skill ${inlineCode(args)} here. ${list}` };
      return { text: list, more: { buttons: startButtons(skills.slice(0, 20)) } };
    },
    stop: async (message, args) => {
      if (args === '') await capabilities.callOff(message.sender.id, message.conversation);
      const means = { isOwner: await users.isOwner(message.sender.id), store, approvals };
      return {
        text: await (args === ''
          ? stopWork(message, means)
          : stopTask(message, args, means, writeIn(message)('tasks'))),
      };
    },
    tasks: async (message) => ({
      text: describeTasks(await tasksHere(message, store.inbox), {
        requests: await store.pendingRequests.open(message.conversation),
        reader: message.sender,
        zone: operatorZone(runtime().config),
        known: new Set((await usable(message)).map(({ name }) => name)),
      }),
    }),
    status: async (message) => {
      const { running, waiting } = await workHere(message, store.inbox);
      const say = sayTo(message);
      const names = new Set(running.map((item) => inlineCode(item.message?.sender.name ?? '?')));
      const { model, used, notices } = await status(message.sender, message.conversation);
      const doing = names.size === 0 ? say`idle` : say`answering ${[...names].join(', ')}`;
      return {
        text: [
          model,
          say`Skills here: ${(await usable(message)).length}`,
          used,
          ...notices,
          say`Now: ${doing}, ${waiting.length} waiting`,
        ].join('\n\n'),
      };
    },
    whoami: async (message) => {
      const { sender, conversation, chatType, external } = message;
      const say = sayTo(message);
      const role = (await users.isOwner(sender.id)) ? say`owner` : say`user`;
      const place = external ? say`${chatType}, shared with others` : chatType;
      return {
        text: [
          say`You: ${inlineCode(sender.id)} (${role})`,
          say`Chat: ${inlineCode(chatIdOf(conversation))}, ${place}`,
        ].join('\n\n'),
      };
    },
    retry: async (message) => {
      const { running, waiting } = await workHere(message, store.inbox);
      const queue = conversationKey(message.conversation);
      if (![...running, ...waiting].some((item) => item.queue === queue)) return undefined;
      const stop = writeIn(message)('stop');
      return { text: sayTo(message)`I am still answering. Write ${stop} first, or wait for my answer.` };
    },
    exit: async (message) => ({
      text: sayTo(
        message,
      )`You can leave only the terminal. ${writeIn(message)('new')} starts a new conversation.`,
    }),
  };

  const answers = new Map<string, AnswerCommand>([...Object.entries(own), ...deps.commands]);

  function writeIn({ conversation }: Message): WriteHere {
    return (name, args) => writeCommand(conversation, name, args);
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

  async function resolve(message: Message): Promise<Resolved | undefined> {
    const { command } = message;
    // A bare "settings key value" must not reach the model: the value may be a secret.
    if (command?.bare === true && command.name === 'settings' && isSetting(command.args))
      return { kind: 'built-in', name: 'settings', args: command.args };
    const use = await accessOf(message);
    const reader = { toOwner: command !== undefined && (await why.isAllowed(message)) };
    const asked = resolveCommand(message, deps.skills.current(), runtime().rules, use, reader);
    if (!namesNothing(message, asked)) return asked;
    return resolveCommand(message, await deps.skills.rescan(), runtime().rules, use, reader);
  }

  return {
    resolve,
    async atOnce(written, openForm) {
      const event = await withPlainStop(written);
      if (event.command === undefined) return false;
      const answerTo = (asked: Resolved | undefined): AnswerCommand | undefined =>
        asked?.kind === 'built-in' ? answers.get(asked.name) : undefined;
      const first = await resolve(event);
      if (answerTo(first) === undefined) return false;
      if ((await seen.get(event.id)) !== undefined) return true;
      const message = await completeChat(event, channels);
      // Slack tells the chat type only on a look-up, so what the command means is decided again with it.
      const asked = message === event ? first : await resolve(message);
      const answered = answerTo(asked);
      if (answered === undefined || asked?.kind !== 'built-in') return false;
      const answer = await answered(message, asked.args, { write: writeIn(message), openForm });
      if (answer === undefined) return false;
      await deps.chat.answered.add(message);
      // The answer is empty if a stopped turn reports its end itself.
      if (answer.text !== '') await replies.answer(message, answer.text, answer.more);
      await seen.set(message.id, true, rememberMs);
      return true;
    },
    async unknown(message) {
      const [, mark, name] = /^\s*([/!])(\S+)/.exec(message.text) ?? [];
      if (message.command === undefined || message.chatType !== 'private') return undefined;
      if (mark === undefined || name === undefined) return undefined;
      const write = writeIn(message);
      const skills = (await usable(message)).map((skill) => skill.name);
      const isAlone = message.command.args === '';
      // "/tmp is full" is no command, nor is any other word that is not clearly mistyped (I3).
      const guess = typoOf(
        message.command.name,
        isAlone ? [...builtInCommands.map(({ name }) => name), ...skills] : skills,
      );
      if (guess === undefined) return undefined;
      const say = sayTo(message);
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

/** How long a command counts as answered: platforms may send it again until then (Q2). */
const rememberMs = 7 * 24 * 3_600_000;

function sayTo({ sender }: Message): Say {
  return sayIn(sender.language);
}
