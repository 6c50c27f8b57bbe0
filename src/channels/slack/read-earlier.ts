import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { said, type SlackPayload } from './payloads.ts';
import type { SlackApi } from './slack-options.ts';
import { spoken } from './to-event.ts';
import { fromSlackMessage, type ConvertedMessage } from './to-message.ts';

/** Up to 2,000 replies are read, because the newest come last. */
const mostPages = 10;
const pageSize = 200;

const page = z.object({
  messages: z.array(z.unknown()),
  response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

/** Messages before this one in its thread, or in the channel since `since`: the newest `most`, oldest first. */
export async function readEarlier(
  { call, me, names }: SlackApi,
  message: Message,
  bounds: Readonly<{ most: number; since: number }>,
): Promise<readonly Message[]> {
  const { chat, thread } = message.conversation;
  const latest = message.platformId;
  if (thread === undefined || latest === undefined) return [];
  const begins = thread === latest;
  const found = begins ? await newestOfChannel() : await newestOfThread();
  const place = { chat, external: false, own: true } as const;
  const people = found
    .flatMap((one) => heardOf(fromSlackMessage(one, place, me)))
    .flatMap((one) => one.people);
  const known = await names.of(people);
  return found
    .flatMap((one) => heardOf(fromSlackMessage(one, place, me, known)))
    .map((one) => ({ ...one.message, chatType: message.chatType, addressed: false }));

  async function newestOfChannel(): Promise<readonly SlackPayload[]> {
    const oldest = String(bounds.since / 1_000);
    const read = await readPage('conversations.history', {
      channel: chat,
      latest,
      oldest,
      limit: pageSize,
    });
    return read.said.slice(0, bounds.most).toReversed();
  }

  async function newestOfThread(): Promise<readonly SlackPayload[]> {
    const search = { channel: chat, ts: thread, latest, limit: pageSize };
    let newest: readonly SlackPayload[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < mostPages; pages++) {
      const read = await readPage(
        'conversations.replies',
        cursor === undefined ? search : { ...search, cursor },
      );
      newest = [...newest, ...read.said].slice(-bounds.most);
      cursor = read.next;
      if (cursor === undefined) break;
    }
    return newest;
  }

  async function readPage(
    method: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<Readonly<{ said: readonly SlackPayload[]; next: string | undefined }>> {
    const { messages, response_metadata } = page.parse(await call(method, args));
    return {
      said: messages.flatMap((one) => {
        const read = said.safeParse(one);
        return read.success && isBefore(read.data) ? [read.data] : [];
      }),
      next: response_metadata?.next_cursor || undefined,
    };
  }

  function isBefore({ ts, subtype }: SlackPayload): boolean {
    return typeof ts === 'string' && Number(ts) < Number(latest) && (!subtype || spoken.includes(subtype));
  }
}

function heardOf(heard: ConvertedMessage | Readonly<{ ignored: string }>): readonly ConvertedMessage[] {
  return 'ignored' in heard ? [] : [heard];
}
