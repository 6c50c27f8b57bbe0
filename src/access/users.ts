import type Keyv from 'keyv';
import { systemClock, type Clock } from '../lib/clock.ts';
import type { AccessSettings } from '../core/access-settings.ts';
import { decideMessage, type MessageDenial, type Speaker, type Decision } from './decide-message.ts';
import { chatIdOf } from '../core/conversation.ts';
import type { Say } from '../core/texts/say.ts';
import type { ChatMigrations } from './chat-migrations.ts';

/** A person whom an owner approved (A10). */
type Paired = Readonly<{ sender: string; name: string; since: number }>;

/** A group that an owner allowed, by its qualified id (H13). */
export type AllowedGroup = Readonly<{ id: string; name: string; since: number }>;

/** People whom the bot knows from config, pairing or an owner's claim. */
export type Users = Readonly<{
  owners(): Promise<readonly string[]>;
  isOwner(sender: string): Promise<boolean>;
  addOwner(sender: string): Promise<void>;
  /**
   * Remembers the name of a person, so that operators read names in place of ids, and the language of an owner, so that
   * the bot writes to them in it (H14).
   */
  heard(sender: Readonly<{ id: string; name?: string; language?: string }>): Promise<void>;
  /** Names of people who wrote in the last 90 days, by their ids. */
  names(): Promise<ReadonlyMap<string, string>>;
  languageOf(sender: string): Promise<string | undefined>;
  /** The IANA time zone that the person chose; undefined if they chose none (U20). */
  timezoneOf(sender: string): Promise<string | undefined>;
  setTimezone(sender: string, zone: string): Promise<void>;
  /** True for the first `by` only, also when that repeats, so that nobody is asked for their time zone twice. */
  asksTimezone(sender: string, by: string): Promise<boolean>;
  pair(person: Paired): Promise<void>;
  unpair(sender: string): Promise<boolean>;
  paired(): Promise<readonly Paired[]>;
  allowGroup(group: AllowedGroup): Promise<void>;
  disallowGroup(id: string): Promise<boolean>;
  allowedGroups(): Promise<readonly AllowedGroup[]>;
  /** Removes what is stored about a person. False if they were neither paired nor owner by claim. */
  forget(sender: string): Promise<boolean>;
  /** Decides whether a message may be answered. `say` writes the reason. */
  decide(message: Speaker, say?: Say): Promise<Decision<MessageDenial>>;
  /** Decides whether the bot may still do things for a person; checked before every action (S11). */
  mayAct(of: Omit<Speaker, 'addressed'>): Promise<Decision<MessageDenial>>;
}>;

const dayMs = 86_400_000;
/** How long a name is kept after the last day on which the person wrote, in milliseconds. */
const nameMs = 90 * dayMs;
const mostNamed = 10_000;

/** Keeps each person under a key of their own, so that processes do not overwrite each other (Q9). */
export function createUsers(options: {
  stored: Keyv;
  access: () => AccessSettings;
  /** The language for all people, or `auto` for each person's own. */
  language?: () => string;
  migrations: ChatMigrations;
  /** Whether the channel of this owner is open, so that they can be notified. */
  isHere?: (owner: string) => boolean;
  clock?: Clock;
}): Users {
  const {
    stored,
    access,
    language: common = () => 'auto',
    migrations,
    isHere = () => true,
    clock = systemClock,
  } = options;
  const languages = new Map<string, string>();
  const named = new Map<string, Readonly<{ name: string; at: number }>>();

  async function every<T>(prefix: string): Promise<readonly (readonly [string, T])[]> {
    const found: (readonly [string, T])[] = [];
    for await (const [key, value] of stored.iterator()) {
      if (String(key).startsWith(prefix)) found.push([String(key).slice(prefix.length), value as T]);
    }
    return found;
  }

  async function isOwner(sender: string): Promise<boolean> {
    return access().owners.includes(sender) || (await stored.has(ownerKey(sender)));
  }

  async function keepName(sender: string, name: string | undefined): Promise<void> {
    if (name === undefined || name === '') return;
    const at = clock.now();
    const known = named.get(sender);
    if (known?.name === name && at - known.at < dayMs) return;
    // The map saves writes; the store has all names.
    if (named.size >= mostNamed) named.clear();
    named.set(sender, { name, at });
    await stored.set(nameKey(sender), name, nameMs);
  }

  const decide: Users['decide'] = async (message, say) => {
    const { id } = message.sender;
    const formerChatIds = await migrations.formerIds(message.conversation);
    // Pairing and claims only add rights, so what the config admits needs no look at the store.
    const byConfig = decideMessage(message, access(), { paired: false, groupAllowed: false, formerChatIds });
    if (byConfig.allowed) return byConfig;
    const isPrivate = message.chatType === 'private';
    const chats = isPrivate ? [] : [chatIdOf(message.conversation), ...formerChatIds];
    const keys = [ownerKey(id), pairedKey(id), ...chats.map(groupKey)];
    const [owner, paired, ...allowed] = await stored.getMany<unknown>(keys);
    const { owners, ...rest } = access();
    return decideMessage(
      message,
      { ...rest, owners: owner === undefined ? owners : [...owners, id] },
      {
        paired: paired !== undefined,
        groupAllowed: allowed.some((group) => group !== undefined),
        formerChatIds,
      },
      say,
    );
  };

  return {
    isOwner,
    decide,
    mayAct: ({ conversation, chatType, sender }) =>
      decide({ conversation, chatType, sender, addressed: true }),
    async owners() {
      const claimed = (await every(ownerKey(''))).map(([sender]) => sender);
      return [...new Set([...access().owners, ...claimed])].filter(isHere);
    },
    async paired() {
      const all = (await every<Paired>(pairedKey(''))).map(([, person]) => person);
      return all.sort((a, b) => a.since - b.since);
    },
    async addOwner(sender) {
      await stored.set(ownerKey(sender), true);
    },
    async heard({ id, language, name }) {
      await keepName(id, name);
      if (language === undefined || languages.get(id) === language || !(await isOwner(id))) return;
      await stored.set(languageKey(id), language);
      languages.set(id, language);
    },
    names: async () => new Map(await every<string>(nameKey(''))),
    async languageOf(sender) {
      if (common() !== 'auto') return common();
      const language: unknown = await stored.get(languageKey(sender));
      return typeof language === 'string' ? language : undefined;
    },
    async timezoneOf(sender) {
      const zone: unknown = await stored.get(zoneKey(sender));
      return typeof zone === 'string' && !zone.startsWith(askedBy) ? zone : undefined;
    },
    async setTimezone(sender, zone) {
      await stored.set(zoneKey(sender), zone);
    },
    async asksTimezone(sender, by) {
      const known: unknown = await stored.get(zoneKey(sender));
      if (known === undefined) await stored.set(zoneKey(sender), `${askedBy}${by}`);
      return known === undefined || known === `${askedBy}${by}`;
    },
    async pair(person) {
      await stored.set(pairedKey(person.sender), person);
    },
    async allowGroup(group) {
      await stored.set(groupKey(group.id), group);
    },
    disallowGroup: (id) => stored.delete(groupKey(id)),
    async allowedGroups() {
      const all = (await every<AllowedGroup>(groupKey(''))).map(([, group]) => group);
      return all.sort((a, b) => a.since - b.since);
    },
    unpair: (sender) => stored.delete(pairedKey(sender)),
    async forget(sender) {
      languages.delete(sender);
      named.delete(sender);
      await stored.delete(nameKey(sender));
      await stored.delete(languageKey(sender));
      await stored.delete(zoneKey(sender));
      const was = [await stored.delete(pairedKey(sender)), await stored.delete(ownerKey(sender))];
      return was.includes(true);
    },
  };
}

/** Ids of the approved people among the keys in the store. */
export function pairedPeople(keys: readonly string[]): readonly string[] {
  const prefix = pairedKey('');
  return keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
}

/** Ids of the owners by claim among the keys in the store. */
export function claimedOwners(keys: readonly string[]): readonly string[] {
  const prefix = ownerKey('');
  return keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
}

/** What the keys in the store say about one person and group. */
export function admissionIn(
  keys: readonly string[],
  sender: string,
  group: string,
): Readonly<{ owner: boolean; paired: boolean; groupAllowed: boolean }> {
  const [owner = false, paired = false, groupAllowed = false] = [
    ownerKey(sender),
    pairedKey(sender),
    groupKey(group),
  ].map((key) => keys.includes(key));
  return { owner, paired, groupAllowed };
}

function ownerKey(sender: string): string {
  return `owner:${sender}`;
}

function nameKey(sender: string): string {
  return `name:${sender}`;
}

function languageKey(sender: string): string {
  return `language:${sender}`;
}

/** Stands in the place of a time zone if the person was asked for it. */
const askedBy = '?';

function zoneKey(sender: string): string {
  return `timezone:${sender}`;
}

function groupKey(id: string): string {
  return `group:${id}`;
}

function pairedKey(sender: string): string {
  return `paired:${sender}`;
}
