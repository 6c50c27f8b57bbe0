import { z } from 'zod';
import { slackName, type Names } from './plain-text.ts';
import { slackErrorCode, tokenErrors, toSendError, type CallSlack } from './slack-error.ts';
import type { ChatKind, SeenChatType } from '../../core/conversation.ts';
import { isZone } from '../../core/local-time.ts';
import type { PersonLocale } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { raceTimeout } from '../../lib/async/deadline.ts';

const hour = 3_600_000;

const flag = z.boolean().nullish();

const info = z.object({
  channel: z.object({
    name: z.string().nullish().catch(undefined),
    user: z.string().nullish().catch(undefined),
    is_im: flag,
    is_mpim: flag,
    is_group: flag,
    is_private: flag,
    is_channel: flag,
    is_ext_shared: flag,
    is_member: flag,
  }),
});

const userGroup = z.object({ users: z.array(z.string()) });

/**
 * Qualified ids of the people in a user group (A13). It needs `usergroups:read` and counts for tier 2. Rejects with the
 * SDK's error.
 */
export async function membersOf(call: CallSlack, usergroup: string): Promise<readonly string[]> {
  const { users } = userGroup.parse(await call('usergroups.users.list', { usergroup }));
  return users.map((user) => `slack:${user}`);
}

const memberPage = z.object({
  members: z.array(z.string()),
  response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

/** Whether a person, by Slack's id, is in a channel. Rejects with the SDK's error. */
export async function hasMember(call: CallSlack, channel: string, user: string): Promise<boolean> {
  let cursor: string | undefined;
  do {
    const page = memberPage.parse(await call('conversations.members', { channel, cursor, limit: 1000 }));
    if (page.members.includes(user)) return true;
    cursor = page.response_metadata?.next_cursor || undefined;
  } while (cursor !== undefined);
  return false;
}

/** `kind` is set for accounts of apps, which have no person's rights (S17). */
type Client = PersonLocale & Readonly<{ kind?: 'bot' }>;

/** Looks names up. They are kept for a day, a missing name for five minutes. */
export type NameLookup = Readonly<{
  /** The names that are known within half a second. Never throws. Messages are acknowledged only after it (Q1). */
  of(users: readonly string[]): Promise<Names>;
  clientOf(user: string): Client;
}>;

export function createNameLookup(call: CallSlack, log: Log, clock: Clock): NameLookup {
  const { known, keep } = createNameCache(clock);
  const asking = new Map<string, Promise<void>>();
  const paused = { until: 0 };

  const ask = async (user: string): Promise<void> => {
    try {
      const asked = { user, include_locale: true };
      const { user: said } = answer.parse(await call('users.info', asked));
      const { real_name, name, profile, locale, tz, is_bot: isBot } = said;
      const client: Client = { language: locale || undefined, timezone: tz && isZone(tz) ? tz : undefined };
      const shown = slackName(profile?.display_name, profile?.real_name, real_name, name);
      keep(user, shown, isBot === true ? { ...client, kind: 'bot' } : client);
    } catch (error) {
      const code = slackErrorCode(error);
      const { message, retryAfterMs } = toSendError(error, 'a look at a name');
      const useless = retryAfterMs !== undefined || (code !== undefined && tokenErrors.includes(code));
      if (useless) paused.until = clock.now() + (retryAfterMs ?? 5 * minute);
      else keep(user, undefined);
      log[useless ? 'warn' : 'debug']({ user, code, why: message }, 'Slack name not found out');
    }
  };

  const learn = async (user: string): Promise<void> => {
    const pending = asking.get(user);
    if (pending !== undefined) return pending;
    if (asking.size >= mostAsked || clock.now() < paused.until) return;
    const answered = ask(user);
    const wait = raceTimeout(clock, answered, patienceMs);
    asking.set(user, wait);
    void answered.then(() => asking.delete(user));
    return wait;
  };

  return {
    async of(users) {
      const people = [...new Set(users)].filter((user) => /^[UW]\w+$/.test(user));
      await Promise.all(people.filter((user) => known(user) === undefined).map(learn));
      return new Map(
        people.flatMap((user) => {
          const name = known(user)?.name;
          return name === undefined ? [] : [[user, name] as const];
        }),
      );
    },
    clientOf: (user) => known(user)?.client ?? {},
  };
}

type KnownName = Readonly<{ name: string | undefined; client: Client; until: number }>;

function createNameCache(clock: Clock): Readonly<{
  known(user: string): KnownName | undefined;
  keep(user: string, name: string | undefined, client?: Client): void;
}> {
  const cache = new Map<string, KnownName>();
  return {
    known(user) {
      const entry = cache.get(user);
      return entry !== undefined && entry.until > clock.now() ? entry : undefined;
    },
    keep(user, name, client = {}) {
      cache.delete(user);
      const [oldest] = cache.keys();
      if (cache.size >= mostKept && oldest !== undefined) cache.delete(oldest);
      const until = clock.now() + (name === undefined ? 5 * minute : 24 * 60 * minute);
      cache.set(user, { name, client, until });
    },
  };
}

const patienceMs = 500;
const minute = 60_000;
const mostKept = 10_000;
/** How many names are looked up at the same time, because answers share the SDK's hundred calls. */
const mostAsked = 20;

const text = z.string().nullish().catch(undefined);
const answer = z.object({
  user: z.object({
    name: text,
    real_name: text,
    locale: text,
    tz: text,
    is_bot: flag.catch(undefined),
    profile: z.object({ display_name: text, real_name: text }).nullish().catch(undefined),
  }),
});

/** What Slack tells about a chat. `absent` means that the bot is not in that channel. */
type ChatFacts = ChatKind &
  Readonly<{
    absent: boolean;
    name?: string;
    /** Qualified id of the person in a private chat. */
    person?: string;
  }>;

/** Facts about chats, from events or else from Slack. They are kept for an hour (A1, Q2). */
export type ChatLookup = Readonly<{
  note(chat: string, facts: ChatKind): void;
  known(chat: string): ChatFacts | undefined;
  /** Asks Slack about a chat. Never throws: an unknown type denies (A3). */
  lookUp(chat: string): Promise<ChatFacts>;
  lookUpNamed(chat: string): Promise<ChatFacts>;
}>;

export function createChatLookup(call: CallSlack, log: Log, clock: Clock): ChatLookup {
  const cache = new Map<string, Readonly<{ facts: ChatFacts; until: number }>>();
  const asking = new Map<string, Promise<ChatFacts>>();

  const known = (chat: string): ChatFacts | undefined => {
    const entry = cache.get(chat);
    return entry !== undefined && entry.until > clock.now() ? entry.facts : undefined;
  };

  const keep = (chat: string, facts: ChatFacts): void => {
    const now = clock.now();
    if (cache.size >= 10_000) for (const [old, { until }] of cache) if (until <= now) cache.delete(old);
    if (cache.size >= 10_000) cache.clear();
    cache.set(chat, { facts, until: now + hour });
  };

  const ask = async (chat: string): Promise<ChatFacts> => {
    try {
      const facts = toFacts(info.parse(await call('conversations.info', { channel: chat })).channel);
      if (!facts.absent && facts.chatType !== 'unknown') keep(chat, facts);
      return facts;
    } catch (error) {
      const code = slackErrorCode(error);
      log.warn(
        { chat, code, err: code === undefined ? error : undefined },
        'could not look up the type of a Slack chat',
      );
      return { chatType: 'unknown', external: true, absent: code === 'channel_not_found' };
    }
  };

  const askOnce = (chat: string): Promise<ChatFacts> => {
    const pending = asking.get(chat) ?? ask(chat).finally(() => asking.delete(chat));
    asking.set(chat, pending);
    return pending;
  };

  return {
    note(chat, { chatType, external }) {
      if (chatType !== 'unknown') keep(chat, { ...known(chat), chatType, external, absent: false });
    },
    known,
    lookUp: async (chat) => known(chat) ?? askOnce(chat),
    async lookUpNamed(chat) {
      const facts = known(chat);
      const isWhole = facts?.name !== undefined || facts?.person !== undefined;
      return facts !== undefined && isWhole ? facts : askOnce(chat);
    },
  };
}

function toFacts(channel: z.output<typeof info>['channel']): ChatFacts {
  const name = slackName(channel.name);
  return {
    name,
    chatType: typeOf(channel),
    external: channel.is_ext_shared === true,
    person: channel.is_im && channel.user ? `slack:${channel.user}` : undefined,
    absent: channel.is_im !== true && channel.is_member === false,
  };
}

function typeOf(channel: z.output<typeof info>['channel']): SeenChatType {
  if (channel.is_im) return 'private';
  if (channel.is_mpim || channel.is_group || channel.is_private) return 'group';
  return channel.is_channel ? 'channel' : 'unknown';
}
