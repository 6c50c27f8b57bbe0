import path from 'node:path';
import type { Rule, Ruling } from '../access/ruling.ts';
import type { SkillRefusal } from '../access/skill-refusal.ts';
import type { KeptRule, StandingRules } from '../approvals/standing-rules.ts';
import type { Users } from '../access/users.ts';
import type { Channel } from '../core/channel.ts';
import { chatIdOf, type SeenChatType } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import { sayOrigin, type Origin } from '../core/provenance.ts';
import { sayIn, type Say } from '../core/texts/say.ts';
import { skillNamed, type Skill } from '../core/skill.ts';
import { inlineCode, nearest, oneLine } from '../lib/text/text.ts';
import type { Answer } from '../core/feature.ts';
import type { Replies } from '../replies/replies.ts';
import type { WrittenSkill } from '../skills/written-skills.ts';
import type { WriteHere } from './overview.ts';

/** What access rules decide about a message, and about skills that its sender starts. */
export type Explained = Readonly<{
  message: Ruling;
  skills: readonly Readonly<{
    name: string;
    byPerson: Ruling;
    /** True if programs or packages are missing on this machine. */
    lacks: boolean;
    missingEnv: readonly string[];
  }>[];
}>;

/** Decides as for a real message. `where` is a qualified chat id; undefined means the person's direct message. */
export type ExplainAccess = (
  of: Readonly<{ who: string; where?: string; chatType?: SeenChatType; external?: boolean }>,
  say: Say,
) => Promise<Explained>;

export type Why = Readonly<{
  /**
   * Answers `/why PERSON [CHAT] [SKILL]` for owners (L13). The answer names skills and people, so only the owner reads
   * it (H12).
   */
  answer(message: Message, args: string, write: WriteHere): Promise<Answer>;
  /**
   * The answer to a skill that was called where it is denied (A11). Owners also read the rule if no one else reads
   * along.
   */
  refused(
    message: Message,
    denied: Readonly<{ skill: Pick<Skill, 'name'>; refusal: SkillRefusal }>,
  ): Promise<Answer>;
  /** Whether the answer to this message is read by an owner alone. */
  isAllowed(message: Message): Promise<boolean>;
}>;

type Asked = Readonly<{ who: string; where: string | undefined; skill: string | undefined }>;

/** Channels that can show an answer to one person in a group. On others the answer is a direct message. */
const showToOne = ['slack', 'terminal'];

export function createWhy({
  users,
  explain,
  rules,
  written,
  replies,
  channels,
}: Readonly<{
  users: Pick<Users, 'isOwner'>;
  explain: ExplainAccess;
  rules: Pick<StandingRules, 'list'>;
  /** Skills that the bot wrote itself. */
  written(): Promise<readonly Pick<WrittenSkill, 'name' | 'from'>[]>;
  replies: Pick<Replies, 'say'>;
  channels: ReadonlyMap<string, Pick<Channel, 'directLink'>>;
}>): Why {
  return {
    async answer(message, args, write) {
      const { sender, conversation, chatType, external } = message;
      const say = sayIn(sender.language);
      if (!(await users.isOwner(sender.id))) return { text: say`Only an owner can ask that.` };
      const asked = questionOf(message, args.split(/\s+/).filter(Boolean));
      if (asked === undefined) return { text: usage(say, write, conversation.channel) };
      const isHere = asked.where === chatIdOf(conversation);
      const place = isHere ? { chatType, external } : {};
      const [found, standing, own] = await Promise.all([
        explain({ who: asked.who, where: asked.where, ...place }, say),
        rules.list(),
        written(),
      ]);
      const kept = keptLines(asked, { standing, own }, say);
      const text = [answerOf(asked, found, isHere, say), ...kept].join('\n\n');
      if (chatType === 'private') return { text };
      if (showToOne.includes(conversation.channel)) return { text, more: { onlyTo: sender.id } };
      const chat = sender.id.slice(sender.id.indexOf(':') + 1);
      await replies.say({ channel: conversation.channel, chat }, `${message.id}-why`, text);
      return { text: say`I answered you in a direct message.` };
    },
    async refused(message, { skill: { name }, refusal: { sentence, inDirect } }) {
      const say = sayIn(message.sender.language);
      const url = inDirect ? channels.get(message.conversation.channel)?.directLink(name) : undefined;
      const there = inDirect && url === undefined ? ` ${say`Please write to me there.`}` : '';
      const rule = (await isAllowed(message)) ? await ruleOf(message, name) : [];
      const text = [`${say(sentence, name)}${there}`, ...rule].join('\n');
      if (url === undefined) return { text };
      return { text, more: { buttons: [{ label: say`Open a direct message`, url }] } };
    },
    isAllowed,
  };

  async function isAllowed({ chatType, ephemeral, sender }: Message): Promise<boolean> {
    return (chatType === 'private' || ephemeral === true) && users.isOwner(sender.id);
  }

  async function ruleOf(
    { sender, conversation, chatType, external }: Message,
    name: string,
  ): Promise<readonly string[]> {
    const where = chatIdOf(conversation);
    const say = sayIn(sender.language);
    const { skills } = await explain({ who: sender.id, where, chatType, external }, say);
    const found = skillNamed(skills, name);
    return found === undefined ? [] : detail(found.byPerson, say);
  }
}

/**
 * Reads the arguments. Undefined if they name nobody. In a group the question is about this chat, otherwise about the
 * person's direct message.
 */
function questionOf(message: Message, words: readonly string[]): Asked | undefined {
  const { conversation, chatType, replyTo } = message;
  const here = chatType === 'private' ? undefined : chatIdOf(conversation);
  const person = idOf(words[0], conversation.channel);
  const who = person ?? replyTo?.sender;
  if (who === undefined) return undefined;
  const rest = person === undefined ? words : words.slice(1);
  const named = idOf(rest[0], conversation.channel);
  const [skill, more] = named === undefined ? rest : rest.slice(1);
  if (more !== undefined || (named !== undefined && channelOf(named) !== channelOf(who))) return undefined;
  return { who, where: named ?? here, skill };
}

/** Accepts `telegram:42`, and of this channel also `42`, `U042` or `<@U042>`. Undefined: it is no id. */
function idOf(word: string | undefined, channel: string): string | undefined {
  if (word === undefined) return undefined;
  if (/^[a-z]+:\S+$/.test(word)) return word;
  const bare = /^<[@#](\w+)(?:\|[^>]*)?>$/.exec(word)?.[1] ?? word;
  const form = channel === 'slack' ? /^[A-Z][A-Z0-9]{2,}$/ : /^-?\d+$/;
  return form.test(bare) ? `${channel}:${bare}` : undefined;
}

function channelOf(id: string): string {
  return id.slice(0, id.indexOf(':'));
}

function usage(say: Say, write: WriteHere, channel: string): string {
  const id = inlineCode(channel === 'slack' ? 'slack:U024BE7LH' : 'telegram:42');
  return [
    say`Write ${write('why', 'PERSON SKILL')}, or ${write('why', 'PERSON CHAT SKILL')} about another chat. A person is an id such as ${id}.`,
    say`You can also reply to somebody’s message with ${write('why')}.`,
  ].join(' ');
}

function answerOf({ who, where, skill }: Asked, found: Explained, isHere: boolean, say: Say): string {
  const { message, skills } = found;
  const person = inlineCode(who);
  const talk = [talkLine(message.allowed, person, isHere ? 'here' : where, say), ...detail(message, say)];
  if (skill === undefined) {
    const [may, mayNot] = [true, false].map((yes) =>
      skills.filter(({ byPerson }) => byPerson.allowed === yes).map(({ name }) => inlineCode(name)),
    );
    const lists = [
      ...(may?.length ? [say`Skills they may use there: ${may.join(', ')}`] : []),
      ...(mayNot?.length ? [say`Skills they may not use there: ${mayNot.join(', ')}`] : []),
    ];
    return [talk.join('\n'), ...lists].join('\n\n');
  }
  const of = skillNamed(skills, skill);
  if (of === undefined) {
    const names = skills.map(({ name }) => name);
    const near = nearest(skill, names).map(inlineCode);
    const unknown = say`I don’t know the skill ${inlineCode(oneLine(skill, 64))}.`;
    return near.length === 0 ? unknown : `${unknown} ${say`Did you mean ${say.either(near)}?`}`;
  }
  const name = inlineCode(of.name);
  const use = of.byPerson.allowed
    ? say`${person} may use ${name} there.`
    : say`${person} may not use ${name} there.`;
  const needs = [
    ...(of.lacks ? [say`${name} lacks programs or packages on this machine.`] : []),
    ...(of.missingEnv.length > 0 ? [say`${name} needs ${of.missingEnv.join(', ')} in its settings.`] : []),
  ];
  return [talk.join('\n'), [use, ...detail(of.byPerson, say)].join('\n'), ...needs].join('\n\n');
}

/** Standing approvals that the person has there, and who wrote the skill, each with whose words led to it (S13). */
function keptLines(
  { who, where, skill }: Asked,
  {
    standing,
    own,
  }: Readonly<{ standing: readonly KeptRule[]; own: readonly Pick<WrittenSkill, 'name' | 'from'>[] }>,
  say: Say,
): readonly string[] {
  const from = (of: Origin): string => {
    const origin = sayOrigin(of, say);
    return origin === undefined ? '' : ` (${say`From: ${origin}`})`;
  };
  const theirs = standing.filter(
    (rule) =>
      rule.sender === who &&
      (where === undefined || rule.chat === where) &&
      (skill === undefined || rule.skill === skill),
  );
  const calls = theirs.map((rule) => {
    const of = rule.skill === undefined ? '' : `, ${inlineCode(rule.skill)}`;
    return `- ${inlineCode(rule.tool)}${of}, ${inlineCode(rule.chat)}${from(rule.from)}`;
  });
  const record = skill === undefined ? undefined : skillNamed(own, skill);
  return [
    ...(record === undefined
      ? []
      : [`${say`I wrote ${inlineCode(record.name)} myself.`}${from(record.from)}`]),
    ...(calls.length === 0 ? [] : [[say`Calls that I no longer ask them about:`, ...calls].join('\n')]),
  ];
}

function talkLine(allowed: boolean, person: string, where: string | undefined, say: Say): string {
  if (where === 'here')
    return allowed ? say`${person} may talk to me here.` : say`${person} may not talk to me here.`;
  if (where === undefined)
    return allowed
      ? say`${person} may talk to me in a direct message.`
      : say`${person} may not talk to me in a direct message.`;
  const chat = inlineCode(where);
  return allowed ? say`${person} may talk to me in ${chat}.` : say`${person} may not talk to me in ${chat}.`;
}

function detail({ reason, rule, change }: Ruling, say: Say): readonly string[] {
  return [
    `- ${say`Because: ${reason}`}`,
    ...(rule === undefined ? [] : [`- ${say`Rule: ${ruleWords(rule)}`}`]),
    ...(change === undefined ? [] : [`- ${say`To change that: ${change}`}`]),
  ];
}

/** A rule's name as in the config, with file and line. The last folder and file name are enough of a path in a chat. */
function ruleWords({ name, path: file, line }: Rule): string {
  const said = name.replace(/^\w+\.\S+/, inlineCode);
  const place = file?.split(path.sep).slice(-2).join('/');
  return place === undefined
    ? said
    : `${said} ${inlineCode(line === undefined ? place : `${place}:${line}`)}`;
}
