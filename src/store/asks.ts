import type { Conversation } from '../core/conversation.ts';

/** Something the bot waits for a person to answer; it survives a restart. */
export type Ask = Readonly<{
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

export type JsonObject = Readonly<{ [key: string]: JsonValue }>;
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** Open questions and approvals. An answer counts once. */
export type Asks = Readonly<{
  find(id: string): Promise<Ask | undefined>;
  /** Open ones of a conversation, oldest first. */
  open(conversation: Conversation): Promise<readonly Ask[]>;
  /** Adds one; a known id is left as it is. */
  add(ask: Omit<Ask, 'state' | 'answer'>): Promise<void>;
  /** The first answer in time is kept; every later one is told how it ended. */
  answer(id: string, answer: NonNullable<Ask['answer']>): Promise<'answered' | 'late' | 'unknown'>;
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
