import type { Attachment, Message } from './message.ts';

/** M12. `hash` finds the bytes. */
export type ShownFile = Readonly<{
  type: 'image' | 'document';
  /** SHA-256, hexadecimal. */
  hash: string;
  mime: string;
  name: string;
  size: number;
  /** It is forgotten with them (Q12). */
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
      /** The beginning of a text file, or a transcript of speech. */
      text?: Readonly<{
        text: string;
        whole: boolean;
        /** Why it is not whole, for a model. */
        cut?: string;
        /** What people see in the file besides: `3 pictures`. */
        without?: string;
        spoken?: true;
      }>;
      /** Why a model gets nothing of it, for a model. */
      unshown?: string;
      /** The same for the person, if they wrote nothing else. */
      told?: string;
    }
  | {
      ok: false;
      /** For a model, without a full stop. */
      reason: string;
      told: string;
    }
>;

/** Undefined if nobody tried. */
export type ReceivedOf = (attachment: Attachment) => Received | undefined;

/** Fetches files of a message and its quotes, and the newest pictures before. Repeatable. Throws only at a shutdown. */
export type Receive = (
  message: Message,
  background: readonly Message[],
  signal: AbortSignal,
) => Promise<ReceivedOf>;

export const nothingReceived: ReceivedOf = () => undefined;

/** What a message says of files, for a reader who is not shown them; `names`: those files only. */
export function withoutShown(content: string, names?: readonly string[]): string {
  return content.replace(
    /^(\[(?:photo|document|audio|video|other) ".*), shown above\]$/gm,
    (whole, told: string) =>
      names === undefined || names.some((name) => told.endsWith(`/${name}`)) ? `${told}]` : whole,
  );
}
