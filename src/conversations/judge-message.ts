import type { App } from '../app.ts';
import type { ExplainAccess } from '../access/explained.ts';
import { decideSkill, isSensitive, type SkillUse } from '../access/decide-skill.ts';
import { skillRefusal, type SkillRefusal } from '../access/skill-refusal.ts';
import { nothingToRetry, type Invocation } from './user-entry.ts';
import type { Commands } from './commands.ts';
import { refuseSkill } from './refuse-skill.ts';
import type { SkillRules } from '../core/access-settings.ts';
import type { CommandTable } from '../core/chat-commands.ts';
import type { Channel, ShownCall } from '../core/channel.ts';
import { requesterOf, type Message } from '../core/message.ts';
import type { Skill } from '../core/skill.ts';
import type { ToolCommand } from '../core/tool-command.ts';
import { sayIn } from '../core/texts/say.ts';
import { inlineCode, oneLine } from '../lib/text/text.ts';
import type { CommandAnswer, ReplyOptions } from '../core/feature.ts';
import { toSenderAlone } from '../replies/replies.ts';

/** Looks up the type of a chat if the message lacks it. A type that stays unknown gives no rights (Q2, A3). */
export async function completeChat(
  message: Message,
  channels: ReadonlyMap<string, Channel>,
): Promise<Message> {
  if (message.chatType !== 'unknown') return message;
  const looked = await channels.get(message.conversation.channel)?.lookUpChat(message.conversation);
  if (looked === undefined) return message;
  return { ...message, chatType: looked.chatType, external: message.external || looked.external };
}

export type Judged = Readonly<
  | { kind: 'command'; name: string }
  | {
      kind: 'answer';
      text: string;
      more?: ReplyOptions;
      /** A sentence for the model of the next turn, which did not see this answer. */
      notice?: string;
    }
  | { kind: 'turn'; invocation: Invocation | undefined; shown: ShownCall; again?: true }
>;

export type JudgeMessage = (message: Message, options: Readonly<{ isNew: boolean }>) => Promise<Judged>;

/** `isNew`: no work was done on the message, so it may still be refused for its cost (Q5). */
export function createJudgeMessage(app: App, commands: Commands, explain: ExplainAccess): JudgeMessage {
  const { runtime, budgets, accessOf, writeCommand } = app;

  /** The call's text is quoted only if everybody who reads it may call the skill (H12). */
  async function shownCall(message: Message, skill: Skill, text: string): Promise<ShownCall> {
    const { rules, redact } = runtime();
    const anybody = { ...(await accessOf(message)), sender: '' };
    const open = !isSensitive(skill, rules) && decideSkill(skill, rules, anybody).allowed;
    return { skill: skill.name, text: open && text !== '' ? redact(text) : undefined };
  }

  /** Asks what the skill should work on. In a direct message, the next message can say it (I2). */
  async function askFor(message: Message, skill: Skill): Promise<Judged> {
    const { name, argumentHint, description } = skill;
    const usage = writeCommand(message.conversation, name, argumentHint);
    const question = sayIn(message.sender.language)`What should ${inlineCode(name)} work on? Write ${usage}.`;
    const text = `${question}\n\n${oneLine(description, 300)}`;
    if (message.chatType !== 'private') return { kind: 'answer', text };
    const byModel = { ...(await accessOf(message)), by: 'model' } as const;
    if (!decideSkill(skill, runtime().rules, byModel).allowed) return { kind: 'answer', text };
    const notice = `The person started the skill ${name} but did not say what it should work on, so you asked for that. If their next message says it, use the skill with it.`;
    return { kind: 'answer', text, notice };
  }

  return async (message, { isNew }) => {
    const asked = await commands.resolve(message);
    const again = asked?.kind === 'built-in' && asked.name === 'retry';
    // Without this, `/retry` in an ephemeral message would open a thread.
    if (again && message.ephemeral === true)
      return { kind: 'answer', text: sayIn(message.sender.language)(nothingToRetry) };
    if (asked?.kind === 'built-in' && !again) return { kind: 'command', name: asked.name };
    if (asked?.kind === 'refused')
      return inPrivate(message, await refuseSkill(message, asked, { ...app, explain }));
    if (asked?.kind === 'skill' && asked.args === '' && lacksArguments(asked.skill, message)) {
      return askFor(message, asked.skill);
    }
    const unknown = asked === undefined && isNew ? await commands.unknown(message) : undefined;
    if (unknown !== undefined) return { kind: 'answer', text: unknown };
    const over = isNew ? await budgets.ofMessage(requesterOf(message)) : undefined;
    if (over !== undefined) return inPrivate(message, { text: over });
    if (again) return { kind: 'turn', invocation: undefined, shown: {}, again };
    if (asked?.kind === 'tool') return startTool(message, asked, writeCommand);
    if (asked?.kind !== 'skill') return { kind: 'turn', invocation: undefined, shown: {} };
    const { skill, args } = asked;
    return {
      kind: 'turn',
      invocation: { skill: skill.name, args },
      shown: await shownCall(message, skill, args),
    };
  };
}

/** Starts a tool by its command, or says what the command needs. */
function startTool(
  { sender, conversation }: Message,
  { tool, command, args }: Extract<Resolved, { kind: 'tool' }>,
  writeCommand: App['writeCommand'],
): Judged {
  const input = command.inputOf(args);
  if (input !== undefined) return { kind: 'turn', invocation: { tool, input }, shown: {} };
  const usage = writeCommand(conversation, command.name, command.hint);
  const text = sayIn(sender.language)`What should ${inlineCode(command.name)} work on? Write ${usage}.`;
  return { kind: 'answer', text };
}

/** A refusal, which the sender alone reads. In a group others read at most that there was one (U16). */
function inPrivate(message: Message, { text, more }: CommandAnswer): Judged {
  const neutral = sayIn(message.sender.language)`I can’t do that here.`;
  return { kind: 'answer', text, more: { ...toSenderAlone(message, neutral), ...more } };
}

/** A hint in brackets names an optional argument (I2). */
function lacksArguments({ argumentHint: hint }: Skill, { replyTo, shared, attachments }: Message): boolean {
  if (replyTo !== undefined || shared !== undefined || attachments.length > 0) return false;
  return hint !== undefined && !hint.trim().startsWith('[');
}

export type Resolved =
  | Readonly<{ kind: 'built-in'; name: string; args: string }>
  | Readonly<{ kind: 'skill'; skill: Skill; args: string }>
  /** A tool from outside that this person may start here by its command (X9). */
  | Readonly<{ kind: 'tool'; tool: string; command: ToolCommand; args: string }>
  /** The skill is denied here, and the person may know that it exists (A11). */
  | Readonly<{ kind: 'refused'; skill: Skill; refusal: SkillRefusal }>;

type Known = Readonly<{
  commands: CommandTable;
  registry: Readonly<{ get(name: string): Skill | undefined }>;
}>;

/** Says what a command names. Undefined means that the message is an ordinary one (I3, I4). */
export function resolveCommand(
  message: Message,
  { commands, registry }: Known,
  rules: SkillRules,
  use: SkillUse,
  reader: Readonly<{ toOwner: boolean }>,
): Resolved | undefined {
  const { command } = message;
  if (command === undefined) return undefined;
  const row = commands.row(command.name);
  const builtIn = row === undefined ? undefined : command.name;
  // Without a slash only a lone built-in word counts, not a sentence that begins with one (I1).
  const isWord = row === undefined || command.args !== '' || row.onlyWithMark === true;
  if (command.bare === true && isWord) return undefined;
  if (builtIn !== undefined && builtIn !== 'skill') {
    return { kind: 'built-in', name: builtIn, args: command.args };
  }
  const [name, args] = builtIn === 'skill' ? splitFirstWord(command.args) : [command.name, command.args];
  if (name === '') return { kind: 'built-in', name: 'skill', args: '' };
  const inner = name.toLowerCase();
  if (builtIn === 'skill' && commands.row(inner) !== undefined)
    return { kind: 'built-in', name: inner, args };
  const skill = registry.get(name);
  if (skill === undefined)
    return builtIn === 'skill' ? { kind: 'built-in', name: 'skill', args: name } : undefined;
  if (decideSkill(skill, rules, use).allowed) return { kind: 'skill', skill, args };
  const refusal = skillRefusal(skill, rules, use, reader);
  if (refusal !== undefined) return { kind: 'refused', skill, refusal };
  return builtIn === 'skill' ? { kind: 'built-in', name: 'skill', args: name } : undefined;
}

function splitFirstWord(text: string): readonly [string, string] {
  const [, word = '', rest = ''] = /^\s*(\S*)\s*([^]*)$/.exec(text) ?? [];
  return [word, rest.trim()];
}
