import type { Attachment, Message } from './message.ts';

/** A picture or document that a model is shown (M12). Its bytes are found by `hash`. */
export type ShownFile = Readonly<{
  type: 'image' | 'document';
  /** SHA-256 of the bytes in hexadecimal. */
  hash: string;
  mime: string;
  name: string;
  size: number;
  /** Qualified id of the sender; the file is forgotten with them (Q12). */
  sender?: string;
}>;

export const pictureTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
]);
export const documentType = 'application/pdf';

export type Received = Readonly<
  | {
      ok: true;
      path: string;
      words: string;
      size: number;
      shown?: ShownFile;
      /** The beginning of a text file, or what was said in a recording. */
      text?: Readonly<{
        text: string;
        whole: boolean;
        /** Why it is not whole, in words for a model. */
        cut?: string;
        /** What people see in the file besides the text, such as `3 pictures`. */
        without?: string;
        spoken?: true;
      }>;
      /** Why a model gets nothing of the file, in words for a model. */
      unshown?: string;
      /** The same in words for the person, used if they wrote nothing else. */
      told?: string;
    }
  | {
      ok: false;
      /** The reason in words for a model, without a full stop. */
      reason: string;
      told: string;
    }
>;

/** What became of fetching an attachment; undefined if nobody tried. */
export type ReceivedOf = (attachment: Attachment) => Received | undefined;

/**
 * Fetches the files of a message and its quotes, and the newest pictures before it. It can be repeated. Throws only at
 * a shutdown.
 */
export type Receive = (
  message: Message,
  background: readonly Message[],
  signal: AbortSignal,
) => Promise<ReceivedOf>;

export const nothingReceived: ReceivedOf = () => undefined;

/**
 * The text of a message for a reader who is not shown its files: without the notes that they are shown. With `names`,
 * only notes on these files are removed.
 */
export function withoutShown(content: string, names?: readonly string[]): string {
  return content.replace(
    /^(\[(?:photo|document|audio|video|other) ".*), shown above\]$/gm,
    (whole, told: string) =>
      names === undefined || names.some((name) => told.endsWith(`/${name}`)) ? `${told}]` : whole,
  );
}
