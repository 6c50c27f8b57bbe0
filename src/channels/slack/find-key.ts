import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Conversation } from '../../core/conversation.ts';
import { slackErrorCode, type CallSlack } from './slack-error.ts';
import type { SlackIdentity } from './slack-options.ts';

/** Metadata with the key of a part, by which an unknown send can be found (Q6). */
export function keyMetadata(key: string): Readonly<Record<string, unknown>> {
  return { event_type: eventType, event_payload: { key } };
}

/** Block id with the key. The message of a file accepts no metadata. */
export function keyBlockId(key: string): string {
  return `${eventType}_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
}

/**
 * Timestamp of the message with this key; undefined if there is none or the app may not read. With `me` it also finds
 * the open stream of a placeholder, which can't carry a key yet; a conversation has one turn at a time.
 */
export async function findKey(
  call: CallSlack,
  { chat, thread }: Conversation,
  key: string,
  me?: SlackIdentity,
): Promise<string | undefined> {
  const where = thread === undefined ? { channel: chat } : { channel: chat, ts: thread };
  const method = thread === undefined ? 'conversations.history' : 'conversations.replies';
  const search = { ...where, include_all_metadata: true, limit: 200 };
  const asked =
    me === undefined || thread === undefined ? undefined : askedIn(key, `slack:${me.team}:${chat}:`);
  let open: string | undefined;
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages; pages++) {
    const found = await readPage(call, method, cursor === undefined ? search : { ...search, cursor });
    if (found === undefined) return undefined;
    const message = found.messages.find(
      ({ metadata, blocks }) =>
        (metadata?.event_type === eventType && metadata.event_payload?.key === key) ||
        blocks?.some(({ block_id }) => block_id === keyBlockId(key)) === true,
    );
    if (message !== undefined) return message.ts;
    if (asked !== undefined)
      open ??= found.messages.find(
        ({ user, ts, streaming_state }) =>
          user === me?.user && streaming_state === 'in_progress' && ts > asked,
      )?.ts;
    cursor = found.response_metadata?.next_cursor || undefined;
    if (cursor === undefined || (thread === undefined && pages + 1 === historyPages)) break;
  }
  return open;
}

function askedIn(key: string, before: string): string | undefined {
  if (!key.startsWith(before)) return undefined;
  return /^(\d+\.\d+)#0!status$/.exec(key.slice(before.length))?.[1];
}

const eventType = 'skillet_part';
/** This many pages are 2,000 replies, beginning with the oldest. */
const mostPages = 10;
const historyPages = 3;

const page = z.object({
  messages: z.array(
    z.object({
      ts: z.string(),
      user: z.string().nullish(),
      streaming_state: z.string().nullish(),
      metadata: z
        .object({ event_type: z.string(), event_payload: z.object({ key: z.unknown() }).nullish() })
        .nullish()
        .catch(null),
      blocks: z
        .array(z.object({ block_id: z.string().nullish() }))
        .nullish()
        .catch(null),
    }),
  ),
  response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish(),
});

async function readPage(call: CallSlack, method: string, args: Readonly<Record<string, unknown>>) {
  try {
    return page.parse(await call(method, args));
  } catch (error) {
    if (unreadable.includes(slackErrorCode(error) ?? '')) return undefined;
    throw error;
  }
}

const unreadable: readonly string[] = [
  'missing_scope',
  'channel_not_found',
  'not_in_channel',
  'thread_not_found',
  'channel_is_limited_access',
  'method_not_supported_for_channel_type',
];
