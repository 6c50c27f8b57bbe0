import type { App } from '../../app.ts';
import type { ExplainAccess, Explained } from '../../access/explained.ts';
import { rulingLines } from '../../conversations/refuse-skill.ts';
import type { WriteHere } from '../../conversations/overview.ts';
import { chatIdOf } from '../../core/conversation.ts';
import type { CommandAnswer, Feature, WhyAsked } from '../../core/feature.ts';
import type { Message } from '../../core/message.ts';
import { skillNamed } from '../../core/skill.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import { inlineCode, nearest, oneLine } from '../../lib/text/text.ts';

export type WhyDeps = App &
  Readonly<{
    explain: ExplainAccess;
    /** All features, for what they keep that changes what a person may do. */
    features: () => readonly Feature[];
  }>;

/**
 * Answers `/why PERSON [CHAT] [SKILL]` for owners (L13). The answer names skills and people, so only the owner reads it
 * (H12).
 */
export async function answerWhy(
  message: Message,
  args: string,
  write: WriteHere,
  { users, explain, features }: WhyDeps,
): Promise<CommandAnswer> {
  const { sender, conversation, chatType, external } = message;
  const say = sayIn(sender.language);
  if (!(await users.isOwner(sender.id))) return { text: say`Only an owner can ask that.` };
  const asked = questionOf(message, args.split(/\s+/).filter(Boolean));
  if (asked === undefined) return { text: usage(say, write, conversation.channel) };
  const isHere = asked.where === chatIdOf(conversation);
  const place = isHere ? { chatType, external } : {};
  const found = await explain({ who: asked.who, where: asked.where, ...place }, say);
  const kept = await Promise.all(features().map(async (feature) => feature.kept?.(asked, say) ?? []));
  const text = [answerOf(asked, found, isHere, say), ...kept.flat()].join('\n\n');
  return { text };
}

/**
 * Reads the arguments. Undefined if they name nobody. In a group the question is about this chat, otherwise about the
 * person's direct message.
 */
function questionOf(message: Message, words: readonly string[]): WhyAsked | undefined {
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

function answerOf({ who, where, skill }: WhyAsked, found: Explained, isHere: boolean, say: Say): string {
  const { message, skills } = found;
  const person = inlineCode(who);
  const talk = [
    talkLine(message.allowed, person, isHere ? 'here' : where, say),
    ...rulingLines(message, say),
  ];
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
  return [talk.join('\n'), [use, ...rulingLines(of.byPerson, say)].join('\n'), ...needs].join('\n\n');
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
