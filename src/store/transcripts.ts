import type { Entry } from '../core/entry.ts';

export type StoredEntry = Readonly<{ seq: number; entry: Entry }>;

/** Append-only lists of entries: one per conversation, one per run (its parent's id and `#run:ID`). Entries are added by `commit`. */
export type Transcripts = Readonly<{
  /** Id of the conversation's transcript in use: its key, until `/new` archives that one. */
  current(conversationKey: string): Promise<string>;
  /** From the newest `summary` entry on: the entries it keeps verbatim, itself, and what came after (M9). A damaged entry is left out and counted (M7). */
  read(id: string): Promise<Readonly<{ entries: readonly StoredEntry[]; damaged: number }>>;
  /** Keeps the transcript in use under its id and takes a new unique one into use, without entries (M8). */
  archive(conversationKey: string): Promise<void>;
  /** Whether the bot ever answered in this conversation. */
  answered(conversationKey: string): Promise<boolean>;
}>;
