import type { Users } from '../access/users.ts';
import type { Channel } from '../core/channel.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { Message } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { bounds } from '../store/bounds.ts';
import type { Store } from '../store/store.ts';

export type HeardDeps = Readonly<{
  store: Store;
  /** Where messages come from that were said without addressing the bot. */
  heard: Readonly<{
    channels: ReadonlyMap<string, Channel>;
    users: Users;
    /** How many such messages a turn gets at most; 0 switches them off. */
    most(): number;
  }>;
  clock: Clock;
  log: Log;
}>;

const mostEarlier = { messages: 50, characters: 30_000 };
const patienceMs = 5_000;

/**
 * Messages said since the last turn. Before the first turn also what the platform still has of earlier ones (H10, M10).
 */
export async function heardBefore(
  message: Message,
  entries: readonly Entry[],
  transcript: string,
  deps: HeardDeps,
): Promise<readonly Message[]> {
  const heard = await heardSince(message, entries, deps);
  // After `/new` the platform's history is not read, because it holds what was archived.
  const isFirst = entries.length === 0 && transcript === conversationKey(message.conversation);
  if (!isFirst || deps.heard.most() === 0 || message.chatType === 'private') return heard;
  const earlier = await readEarlier(message, deps);
  const known = new Set(earlier.map(({ id }) => id));
  return [...earlier, ...heard.filter(({ id }) => !known.has(id))].sort((a, b) => a.sentAt - b.sentAt);
}

export async function heardSince(
  message: Message,
  entries: readonly Entry[],
  { store, heard: { most }, clock }: HeardDeps,
): Promise<readonly Message[]> {
  if (message.chatType === 'private') return [];
  const lastSaidAt = entries.findLast(({ kind }) => kind === 'user')?.at ?? 0;
  const since = Math.max(clock.now() - bounds.groupContextKeptMs, lastSaidAt);
  return store.groupContext.recent(conversationKey(message.conversation), most(), since);
}

/**
 * Reads earlier messages from the platform, oldest first (H10). Empty if it can't be read; rejects if the store is
 * away.
 */
async function readEarlier(
  message: Message,
  { heard: { channels, users }, clock, log }: HeardDeps,
): Promise<readonly Message[]> {
  const channel = channels.get(message.conversation.channel);
  if (channel?.readEarlier === undefined || message.task !== undefined) return [];
  const enough = new AbortController();
  const since = message.sentAt - bounds.groupContextKeptMs;
  const said = await Promise.race([
    channel.readEarlier(message, { most: mostEarlier.messages, since }),
    clock.sleep(patienceMs, enough.signal).then(() => Promise.reject(new Error('it took too long'))),
  ])
    .catch((error: unknown) => {
      log.warn({ err: error, message: message.id }, 'could not read the messages before a question');
      return [];
    })
    .finally(() => enough.abort());
  return newest(await ofAdmitted(message, said, users));
}

/** In a thread keeps all messages; in chats only those of the bot and of admitted people (M10). */
async function ofAdmitted(
  message: Message,
  said: readonly Message[],
  users: Users,
): Promise<readonly Message[]> {
  if (message.conversation.thread !== message.platformId) return said;
  const heard = said.map((one) => ({ ...one, external: message.external || one.external }));
  const decisions = await Promise.all(heard.map((one) => users.mayAct(one)));
  return heard.filter(({ sender }, index) => sender.own === true || decisions[index]?.allowed === true);
}

/** The last messages that fit into `mostEarlier.characters`. */
function newest(said: readonly Message[]): readonly Message[] {
  let left = mostEarlier.characters;
  const tooOld = said.findLastIndex(({ text, shared = [] }) => {
    left -= [text, ...shared.map((one) => one.text)].join('').length;
    return left < 0;
  });
  return said.slice(tooOld + 1);
}
