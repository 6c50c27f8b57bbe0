import path from 'node:path';
import type { App } from '../app.ts';
import type { ExplainAccess } from '../access/explained.ts';
import type { Rule, Ruling } from '../access/ruling.ts';
import type { SkillRefusal } from '../access/skill-refusal.ts';
import { chatIdOf } from '../core/conversation.ts';
import type { CommandAnswer } from '../core/feature.ts';
import type { Message } from '../core/message.ts';
import { skillNamed, type Skill } from '../core/skill.ts';
import { sayIn, type Say } from '../core/texts/say.ts';
import { inlineCode } from '../lib/text/text.ts';

type RefuseDeps = App & Readonly<{ explain: ExplainAccess }>;

/**
 * The answer to a skill that was called where it is denied (A11). Owners also read the rule if no one else reads along.
 */
export async function refuseSkill(
  message: Message,
  { skill: { name }, refusal: { sentence, inDirect } }: Readonly<{ skill: Skill; refusal: SkillRefusal }>,
  { users, channels, explain }: RefuseDeps,
): Promise<CommandAnswer> {
  const say = sayIn(message.sender.language);
  const url = inDirect ? channels.get(message.conversation.channel)?.directLink(name) : undefined;
  const there = inDirect && url === undefined ? ` ${say`Please write to me there.`}` : '';
  const rule = (await isReadByOwnerAlone(message, users)) ? await ruleOf(message, name, explain) : [];
  const text = [`${say(sentence, name)}${there}`, ...rule].join('\n');
  if (url === undefined) return { text };
  return { text, more: { buttons: [{ label: say`Open a direct message`, url }] } };
}

/** Whether the answer to this message is read by an owner alone. */
export async function isReadByOwnerAlone(
  { chatType, ephemeral, sender }: Message,
  users: App['users'],
): Promise<boolean> {
  return (chatType === 'private' || ephemeral === true) && users.isOwner(sender.id);
}

async function ruleOf(
  { sender, conversation, chatType, external }: Message,
  name: string,
  explain: ExplainAccess,
): Promise<readonly string[]> {
  const where = chatIdOf(conversation);
  const say = sayIn(sender.language);
  const { skills } = await explain({ who: sender.id, where, chatType, external }, say);
  const found = skillNamed(skills, name);
  return found === undefined ? [] : rulingLines(found.byPerson, say);
}

/** The reason of a decision, its rule, and what would change it, one list item each. */
export function rulingLines({ reason, rule, change }: Ruling, say: Say): readonly string[] {
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
