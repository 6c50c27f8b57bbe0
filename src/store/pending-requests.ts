import { z } from 'zod';
import type { Conversation } from '../core/conversation.ts';
import type { Log } from '../lib/log.ts';
import { readStored } from './stored-json.ts';
import { storedConversation } from './stored-message.ts';

const answer = z.object({
  by: z.string(),
  name: z.string().optional(),
  value: z.string(),
  at: z.number(),
  call: z.string().optional(),
});

/** What of an ask is kept as JSON beside its columns. */
export const storedAsk = z.object({
  conversation: storedConversation,
  transcript: z.string(),
  toolUseId: z.string(),
  payload: z.record(z.string(), z.json()),
  askedAt: z.number(),
  answer: answer.optional(),
});

/** Something the bot waits for a person to answer; it survives a restart. */
export type PendingRequest = Readonly<{
  id: string;
  /** `approval`: of a tool call (T8). `question`: of a run to its requester (U14). */
  kind: 'approval' | 'question';
  conversation: Conversation;
  /** Sender id of the person whose message began the turn. */
  requester: string;
  /** Transcript and tool use that wait for the answer. */
  transcript: string;
  toolUseId: string;
  /** What is asked, as the asker's own plain data. */
  payload: JsonObject;
  askedAt: number;
  expiresAt: number;
  state: 'open' | 'answered' | 'expired' | 'cancelled';
  /** Who answered, with their name as it was then, and what. `call`: the run that brought a question's answer, so that it is taken by one alone. */
  answer?: Readonly<{ by: string; name?: string; value: string; at: number; call?: string }>;
}>;

export type JsonObject = Readonly<{ [key: string]: JsonValue | undefined }>;
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** Open questions and approvals. An answer counts once. */
export type PendingRequests = Readonly<{
  find(id: string): Promise<PendingRequest | undefined>;
  /** Open ones of a conversation, oldest first. */
  open(conversation: Conversation): Promise<readonly PendingRequest[]>;
  /** Adds one; a known id is left as it is. */
  add(ask: Omit<PendingRequest, 'state' | 'answer'>): Promise<void>;
  /** The first answer in time is kept; every later one is told how it ended. */
  answer(id: string, answer: NonNullable<PendingRequest['answer']>): Promise<'answered' | 'late' | 'unknown'>;
  /** Ends those whose time is over. Gives their ids. */
  expire(now: number): Promise<readonly string[]>;
  /**
   * Approvals of the last day that ended 10 s ago or more without a word about it: who had to say it died. Each is given
   * to one caller, and again after 5 minutes while its row `outcomeKey` is missing.
   */
  takeUnshown(now: number): Promise<readonly string[]>;
}>;

/** The answer in the outbox that shows how an approval ended. */
export function outcomeKey(id: string): string {
  return `ask:${id}!outcome`;
}

/** For the statement behind `takeUnshown`. Milliseconds. */
export const unshown = {
  part: `'${outcomeKey("' || id || '")}#0'`,
  afterMs: 10_000,
  leaseMs: 5 * 60_000,
  longestMs: 24 * 60 * 60_000,
} as const;

/** The columns of an ask's row. */
export type PendingRequestRow = Readonly<{
  id: string;
  kind: PendingRequest['kind'];
  requester: string;
  state: PendingRequest['state'];
  expires_at: number;
  ask: string;
}>;

/** The ask of a row. A damaged one counts as missing and is reported (Q11): nothing is done on it. */
export function readAsk(row: PendingRequestRow | undefined, log: Log): PendingRequest | undefined {
  if (row === undefined) return undefined;
  const stored = readStored(storedAsk, row.ask);
  if (!stored.ok) {
    log.error({ ask: row.id, reason: stored.reason }, 'a stored question is damaged and counts as missing');
    return undefined;
  }
  const { answer: given, ...rest } = stored.value;
  return {
    ...rest,
    id: row.id,
    kind: row.kind,
    requester: row.requester,
    state: row.state,
    expiresAt: row.expires_at,
    answer: given,
  };
}
