import { z } from 'zod';
import type { Conversation } from '../core/conversation.ts';
import { storedProvenance, type Provenance } from '../core/provenance.ts';
import type { MadeWith, Thumb } from '../core/rating.ts';
import type { Log } from '../lib/log.ts';
import { hasChanged, type Sql } from './sql.ts';
import { readStored, type FieldsOf } from './stored-json.ts';
import { storedConversation } from './stored-message.ts';

/** What one person thinks of one answer. It has no words of anybody else (U17). */
export type Feedback = Readonly<{
  /** The same for each thumb of this person on this answer. */
  id: string;
  sender: string;
  thumb: Thumb;
  /** When they pressed, in milliseconds since 1970. */
  at: number;
  /** What was wrong, in their words. */
  reason?: string;
  about: Rated;
}>;

/** The answer that was rated, and what is kept of it. */
export type Rated = Omit<MadeWith, 'asked'> &
  Readonly<{
    conversation: Conversation;
    /** The platform's id of the message. */
    message: string;
    /** Question and answer, if the person who rated had asked, with whose words the question is (S13). */
    own?: Readonly<{ question: string; answer: string; from: Provenance }>;
  }>;

/** A thumb that was given, or with `about` undefined one that was taken back. */
export type GivenThumb = Omit<Feedback, 'reason' | 'about'> & Readonly<{ about?: Rated }>;

/** Thumbs of people under answers. Each person has one for each answer, and the last counts (U17). */
export type FeedbackStore = Readonly<{
  /**
   * Stores a thumb, or takes back that very thumb. Nothing changes if a later one is known. An unchanged thumb keeps its
   * reason. Returns whether something changed.
   */
  give(given: GivenThumb): Promise<boolean>;
  /** Adds the reason to a thumb down. False if there is none any more. */
  explain(id: string, reason: string): Promise<boolean>;
  find(id: string): Promise<Feedback | undefined>;
  /** All thumbs that count, oldest first. */
  list(): Promise<readonly Feedback[]>;
}>;

const storedRated: z.ZodType<Rated> = z.object({
  item: z.string(),
  skills: z.array(z.object({ name: z.string(), version: z.string() })),
  model: z.string(),
  tools: z.array(z.string()),
  conversation: storedConversation,
  message: z.string(),
  own: z.object({ question: z.string(), answer: z.string(), from: storedProvenance }).optional(),
} satisfies FieldsOf<Rated>);

type Row = Readonly<{
  id: string;
  sender: string;
  thumb: Thumb;
  at: number;
  reason: string | null;
  about: string;
}>;

export function createFeedbackStore(sql: Sql, log: Log): FeedbackStore {
  const { read, write } = sql;
  // A thumb that was taken back stays without content, so that an earlier press that arrives late does not count.
  const give = sql.statement(
    `INSERT INTO feedback (id, sender, thumb, at, about) VALUES (?1, ?2, ?3, ?4, ?5)
     ON CONFLICT (id) DO UPDATE SET thumb = excluded.thumb, at = excluded.at, about = excluded.about,
       reason = CASE WHEN feedback.thumb = excluded.thumb AND excluded.about IS NOT NULL THEN feedback.reason END
     WHERE feedback.at <= excluded.at AND (excluded.about IS NOT NULL OR feedback.thumb = excluded.thumb)`,
  );
  const explain = sql.statement(
    `UPDATE feedback SET reason = ?2 WHERE id = ?1 AND thumb = 'down' AND about IS NOT NULL`,
  );
  const select = (rest: string) =>
    sql.statement<Row>(
      `SELECT id, sender, thumb, at, reason, about FROM feedback WHERE about IS NOT NULL ${rest}`,
    );
  const one = select('AND id = ?1');
  const all = select('AND at > 0 ORDER BY at, id');
  const known = (row: Row): readonly Feedback[] => readFeedback(row, log);
  return {
    async give({ id, sender, thumb, at, about }) {
      const text = about === undefined ? null : JSON.stringify(about);
      return hasChanged(await write('power', give(id, sender, thumb, at, text)));
    },
    explain: async (id, reason) => hasChanged(await write('power', explain(id, reason))),
    find: async (id) => (await read(one(id))).flatMap(known)[0],
    list: async () => (await read(all())).flatMap(known),
  };
}

/** Reads feedback. A damaged one is logged and counts as missing (Q11). */
function readFeedback({ about, reason, ...row }: Row, log: Log): readonly Feedback[] {
  const rated = readStored(storedRated, about);
  if (rated.ok) return [{ ...row, reason: reason ?? undefined, about: rated.value }];
  log.warn({ feedback: row.id, reason: rated.reason }, 'stored feedback is damaged and was left out');
  return [];
}
