import type { Channel } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Message } from '../core/message.ts';
import { bounds } from '../store/bounds.ts';
import type { Users } from '../access/users.ts';

/** What was said before the message that brings the bot in, oldest first (H10). Never rejects. */
export type ReadEarlier = (message: Message) => Promise<readonly Message[]>;

/** Messages, and characters of them together. */
const most = { messages: 50, characters: 30_000 };
/** Answers wait no longer for it. */
const patienceMs = 5_000;

export function createReadEarlier(options: {
  channels: ReadonlyMap<string, Pick<Channel, 'readEarlier'>>;
  users: Pick<Users, 'mayAct'>;
  clock: Clock;
  log: Log;
}): ReadEarlier {
  const { channels, users, clock, log } = options;

  /** A person who asks in a thread points at it; a chat is background, and only of people who may use the bot (M10). */
  async function background(message: Message, said: readonly Message[]): Promise<readonly Message[]> {
    if (message.conversation.thread !== message.platformId) return said;
    const heard = said.map((one) => ({ ...one, external: message.external || one.external }));
    const decisions = await Promise.all(heard.map((one) => users.mayAct(one)));
    return heard.filter((_, index) => decisions[index]?.allowed === true);
  }

  return async (message) => {
    const channel = channels.get(message.conversation.channel);
    if (channel?.readEarlier === undefined || message.task !== undefined) return [];
    const enough = new AbortController();
    try {
      const since = message.sentAt - bounds.overheardKeptMs;
      const said = await Promise.race([
        channel.readEarlier(message, { most: most.messages, since }),
        clock.sleep(patienceMs, enough.signal).then(() => Promise.reject(new Error('it took too long'))),
      ]);
      return newest(await background(message, said));
    } catch (error) {
      log.warn({ err: error, message: message.id }, 'what was said before a question could not be read');
      return [];
    } finally {
      enough.abort();
    }
  };
}

function newest(said: readonly Message[]): readonly Message[] {
  let left = most.characters;
  const tooOld = said.findLastIndex(({ text, shared = [] }) => {
    left -= [text, ...shared.map((one) => one.text)].join('').length;
    return left < 0;
  });
  return said.slice(tooOld + 1);
}
