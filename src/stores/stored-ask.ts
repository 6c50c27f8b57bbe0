import { z } from 'zod';
import type { Ask } from './asks.ts';
import { storedConversation } from './stored-message.ts';

const answer = z.object({ by: z.string(), value: z.string(), at: z.number(), call: z.string().optional() });

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

/** The ask that a row and its JSON make. */
export function toAsk(row: AskRow, stored: z.output<typeof storedAsk>): Ask {
  const { answer: given, ...rest } = stored;
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
