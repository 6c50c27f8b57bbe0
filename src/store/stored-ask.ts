import { z } from 'zod';
import type { Log } from '../lib/log.ts';
import type { Ask } from './asks.ts';
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

/** The columns of an ask's row. */
export type AskRow = Readonly<{
  id: string;
  kind: Ask['kind'];
  requester: string;
  state: Ask['state'];
  expires_at: number;
  ask: string;
}>;

/** The ask of a row. A damaged one counts as missing and is reported (Q11): nothing is done on it. */
export function readAsk(row: AskRow | undefined, log: Log): Ask | undefined {
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
    ...(given === undefined ? {} : { answer: given }),
  };
}
