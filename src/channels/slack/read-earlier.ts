import { z } from 'zod';
import type { Message } from '../../core/message.ts';
import { said, type SlackPayload } from './payloads.ts';
import type { SlackApi } from './slack-options.ts';
import type { CallSlack } from './slack-error.ts';
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
  const found =
    thread === latest
      ? await newestOfChannel(call, { channel: chat, latest }, bounds)
      : await newestOfThread(call, { channel: chat, ts: thread, latest }, bounds.most);
  const place = { chat, external: false, own: true } as const;
  const people = found
    .flatMap((one) => heardOf(fromSlackMessage(one, place, me)))
    .flatMap((one) => one.people);
  const known = await names.of(people);
  return found
    .flatMap((one) => heardOf(fromSlackMessage(one, place, me, known)))
    .map((one) => ({ ...one.message, chatType: message.chatType, addressed: false }));
}

async function newestOfChannel(
  call: CallSlack,
  place: Readonly<{ channel: string; latest: string }>,
  { most, since }: Readonly<{ most: number; since: number }>,
): Promise<readonly SlackPayload[]> {
  const oldest = String(since / 1_000);
  const read = await readPage(call, 'conversations.history', { ...place, oldest, limit: pageSize });
  return read.said.slice(0, most).toReversed();
}

async function newestOfThread(
  call: CallSlack,
  place: Readonly<{ channel: string; ts: string; latest: string }>,
  most: number,
): Promise<readonly SlackPayload[]> {
  const search = { ...place, limit: pageSize };
  let newest: readonly SlackPayload[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages; pages++) {
    const read = await readPage(
      call,
      'conversations.replies',
      cursor === undefined ? search : { ...search, cursor },
    );
    newest = [...newest, ...read.said].slice(-most);
    cursor = read.next;
    if (cursor === undefined) break;
  }
  return newest;
}

async function readPage(
  call: CallSlack,
  method: 'conversations.history' | 'conversations.replies',
  args: Readonly<Record<string, unknown> & { latest: string }>,
): Promise<Readonly<{ said: readonly SlackPayload[]; next: string | undefined }>> {
  const { messages, response_metadata } = page.parse(await call(method, args));
  return {
    said: messages.flatMap((one) => {
      const read = said.safeParse(one);
      return read.success && isBefore(read.data, args.latest) ? [read.data] : [];
    }),
    next: response_metadata?.next_cursor || undefined,
  };
}

function isBefore({ ts, subtype }: SlackPayload, latest: string): boolean {
  return typeof ts === 'string' && Number(ts) < Number(latest) && (!subtype || spoken.includes(subtype));
}

function heardOf(heard: ConvertedMessage | Readonly<{ ignored: string }>): readonly ConvertedMessage[] {
  return 'ignored' in heard ? [] : [heard];
}
