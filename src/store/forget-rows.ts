/** Tables whose rows may be of a person, beside the entries of transcripts. */
export type PersonTable = 'inbox' | 'overheard' | 'outbox' | 'asks';

/** A row as `forgetPerson` judges it. */
export type PersonRow = Readonly<{
  seq: number;
  /** Of an inbox item, an overheard message or an outbox row: its key. Of an ask: its id. */
  key: string;
  /** Lane, or key of the conversation. */
  place: string;
  /** The JSON it holds; empty where that was let go already. */
  text: string;
  /** Of an ask: who may answer it. */
  requester: string | null;
  /** Done, dead, sent, settled: nothing more will come of it. */
  ended: boolean;
}>;

/** One row to be removed, or rewritten from what it was; a row that holds something else by now is left as it is. */
export type RowChange = Readonly<{ seq: number; was: string; text: string | undefined }>;

/** Keys of values that name the person they are of. */
export type PersonKeys = 'commands' | 'pairing' | 'settings' | 'shown';

/** A store's own rows, as `forgetPerson` reads and changes them: in steps between which the store can be used. */
export type ForgetRows = Readonly<{
  /** Transcripts and run journals with an entry whose JSON holds one of these texts. */
  transcriptsWith(texts: readonly string[]): Promise<readonly string[]>;
  /** Transcripts of a conversation: in use, archived (`KEY@…`), and the journals of their runs (`…#run:…`). */
  transcriptsOf(conversation: string): Promise<readonly string[]>;
  /** `limit` entries of a transcript after `seq`, in order. */
  entries(
    transcript: string,
    after: number,
    limit: number,
  ): Promise<readonly Readonly<{ seq: number; text: string }>[]>;
  /** `limit` rows after `seq`, in order. */
  rows(table: PersonTable, after: number, limit: number): Promise<readonly PersonRow[]>;
  /** Makes all of these changes as one transaction. */
  change(table: PersonTable | 'entries', changes: readonly RowChange[]): Promise<void>;
  /** Forgets that a conversation was ever there: its archived transcripts' ids and when something was last said in them. */
  dropConversation(conversation: string): Promise<void>;
  /** `limit` keys after this one, in order. */
  keys(of: PersonKeys, after: string, limit: number): Promise<readonly string[]>;
  removeKeys(of: PersonKeys, keys: readonly string[]): Promise<void>;
  /** Gives how many rows that were. */
  removeUsage(sender: string): Promise<number>;
}>;
