import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import type { SeenChatType } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import type { CallSlack } from './call-slack.ts';
import { shownName } from './shown-name.ts';
import { slackErrorCode } from './slack-error.ts';

/** `absent`: Slack says that the bot is not in that channel. */
export type ChatFacts = Readonly<{
  chatType: SeenChatType;
  external: boolean;
  absent: boolean;
  /** Of a channel, as people call it; events do not tell it. */
  name?: string;
}>;

/** What kind of room a chat is: told by events, else asked of Slack, kept for an hour (A1, Q2). */
export type ChatLookup = Readonly<{
  /** An event told. */
  note(chat: string, facts: Pick<ChatFacts, 'chatType' | 'external'>): void;
  /** What is known without asking. */
  known(chat: string): ChatFacts | undefined;
  /** Asks where nothing is known. Never throws: what can't be learned is unknown, which denies (A3). */
  lookUp(chat: string): Promise<ChatFacts>;
  /** Asks where the name is not known, too. */
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
      // An absent bot may be invited any moment, an unknown type is no answer: neither is worth keeping.
      if (!facts.absent && facts.chatType !== 'unknown') keep(chat, facts);
      return facts;
    } catch (error) {
      const code = slackErrorCode(error);
      log.warn({ chat, code, err: code === undefined ? error : undefined }, 'Slack chat type not found out');
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
      const isWhole = facts?.name !== undefined || facts?.chatType === 'private';
      return facts !== undefined && isWhole ? facts : askOnce(chat);
    },
  };
}

const hour = 3_600_000;

const flag = z.boolean().nullish();
const info = z.object({
  channel: z.object({
    name: z.string().nullish().catch(undefined),
    is_im: flag,
    is_mpim: flag,
    is_group: flag,
    is_private: flag,
    is_channel: flag,
    is_ext_shared: flag,
    is_member: flag,
  }),
});

function toFacts(channel: z.output<typeof info>['channel']): ChatFacts {
  const name = shownName(channel.name);
  return {
    ...(name === undefined ? {} : { name }),
    chatType: typeOf(channel),
    external: channel.is_ext_shared === true,
    absent: channel.is_im !== true && channel.is_member === false,
  };
}

function typeOf(channel: z.output<typeof info>['channel']): SeenChatType {
  if (channel.is_im) return 'private';
  if (channel.is_mpim || channel.is_group || channel.is_private) return 'group';
  return channel.is_channel ? 'channel' : 'unknown';
}
