import type { Attachment, Message } from './message.ts';

/** For a model (M12). The bytes are kept under `hash`. */
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
      /** Of a text file the beginning; of speech the transcript. */
      text?: Readonly<{ text: string; whole: boolean; spoken?: true }>;
      unshown?: string;
      /** For the person, in Markdown. */
      told?: string;
    }
  | {
      ok: false;
      /** Without a full stop, for a model. */
      reason: string;
      /** For the person, in Markdown. */
      told: string;
    }
>;

/** Undefined if nobody tried. */
export type ReceivedOf = (attachment: Attachment) => Received | undefined;

/** Fetches a message's files, quoted ones, and the newest pictures before it. Repeatable. Throws only at a shutdown. */
export type Receive = (
  message: Message,
  background: readonly Message[],
  signal: AbortSignal,
) => Promise<ReceivedOf>;

export const nothingReceived: ReceivedOf = () => undefined;
