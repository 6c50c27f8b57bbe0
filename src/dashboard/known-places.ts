import type { Config } from '../config/complete-config.ts';
import { localDay, operatorZone } from '../core/local-time.ts';
import { chatIdOf, placeOfKey, type SeenChatType } from '../core/conversation.ts';
import type { Writer } from '../operator/access/access-decisions.ts';
import { likelyType } from '../operator/access/question.ts';
import type { PageView } from './page.ts';

export type KnownPerson = Readonly<{ id: string; name?: string }>;
export type KnownChat = Readonly<{ id: string; name?: string; chatType: SeenChatType }>;
export type Known = Readonly<{ people: readonly KnownPerson[]; chats: readonly KnownChat[] }>;

const usageDays = 30;
const dayMs = 86_400_000;

/** People and group chats that the config names, that were approved, or that used a model in the last 30 days. */
export async function knownPlaces({ ask, config, now, names }: PageView): Promise<Known> {
  const since = localDay(now - usageDays * dayMs, operatorZone(config));
  const [pairs, usage] = await Promise.all([ask('pair list'), ask('stats', since)]);
  const people = new Map<string, KnownPerson>();
  const chats = new Map<string, KnownChat>();
  const addPerson = (id: string, name?: string): void => {
    const full = qualified(id);
    if (full !== undefined && !people.has(full))
      people.set(full, { id: full, name: name ?? names.person(full) });
  };
  const addChat = (id: string, name?: string): void => {
    const full = qualified(id);
    if (full === undefined || people.has(full) || chats.has(full)) return;
    const chatType = likelyType(full);
    if (chatType !== 'private') chats.set(full, { id: full, name: name ?? names.chat(full), chatType });
  };
  for (const { sender, name } of pairs.paired) addPerson(sender, name);
  for (const owner of pairs.owners) addPerson(owner);
  for (const id of peopleIn(config)) addPerson(id);
  for (const { sender } of usage) addPerson(sender);
  for (const { id, name } of [...pairs.groups, ...pairs.ignored]) addChat(id, name);
  for (const id of chatsIn(config)) addChat(id);
  for (const { conversation } of usage) addChat(chatIdOf(placeOfKey(conversation)));
  return { people: [...people.values()], chats: [...chats.values()] };
}

function levelsOf({ access }: Config) {
  const { telegram, slack, chats, ...general } = access;
  return [general, telegram, slack, ...Object.values(chats)].filter((level) => level !== undefined);
}

function peopleIn(config: Config): readonly string[] {
  const ofSkills = Object.values(config.skills.byName).flatMap(({ allowUsers = [] }) => allowUsers);
  const ofAccess = levelsOf(config).flatMap(({ users = [], groupUsers = [] }) => [...users, ...groupUsers]);
  return [...config.bot.owner, ...config.policy.approvers, ...ofAccess, ...ofSkills];
}

function chatsIn(config: Config): readonly string[] {
  const { skills, access } = config;
  const ofSkills = [skills.defaults, ...Object.values(skills.byName)].flatMap(
    ({ allowChatIds = [] }) => allowChatIds,
  );
  const ofAccess = levelsOf(config).flatMap(({ groups = [] }) => groups);
  return [...ofAccess, ...Object.keys(access.chats), ...ofSkills];
}

/**
 * The qualified id. The config may leave the channel out, which the form of an id then shows. Undefined for `*` and for
 * groups of people.
 */
function qualified(id: string): string | undefined {
  if (id.includes('*') || id.startsWith('group:') || id.startsWith('terminal')) return undefined;
  if (id.includes(':')) return id;
  if (/^-?\d+$/.test(id)) return `telegram:${id}`;
  return /^[A-Z][A-Z0-9]+$/.test(id) ? `slack:${id}` : undefined;
}

/** A plain message of this person to the bot, in a chat or, if that is undefined, in their direct message. */
export function writerAt(sender: string, chat?: KnownChat): Writer {
  const [channel, id] = splitId(chat?.id ?? sender);
  const chatType = chat?.chatType ?? 'private';
  return { sender, kind: 'person', channel, chat: id, chatType, external: false, addressed: true };
}

/** Splits an id into the channel and what follows it. */
export function splitId(id: string): readonly [channel: string, rest: string] {
  const at = id.indexOf(':');
  return at < 0 ? ['', id] : [id.slice(0, at), id.slice(at + 1)];
}
