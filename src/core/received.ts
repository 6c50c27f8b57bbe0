import type { Attachment, Message } from './message.ts';

/** A file that a model is shown itself (M12). Its bytes are kept under `hash`; they stand in a request and nowhere else. */
export type ShownFile = Readonly<{
  type: 'image' | 'document';
  /** SHA-256 of the bytes, hexadecimal. */
  hash: string;
  mime: string;
  /** In the conversation's folder. */
  name: string;
  /** Bytes. */
  size: number;
  /** Who sent it: it is forgotten with them (Q12). */
  sender?: string;
}>;

/** What the Messages API takes as pictures, and as a document. */
export const pictureTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
]);
export const documentType = 'application/pdf';

/** What became of a file that somebody sent. */
export type Received = Readonly<
  | {
      ok: true;
      /** As commands and file tools know it. */
      path: string;
      /** What it is, by its bytes. */
      words: string;
      size: number;
      shown?: ShownFile;
      /** Of a text file its beginning, or all of it; of what was `spoken` the transcript. */
      text?: Readonly<{ text: string; whole: boolean; spoken?: true }>;
      /** Why a picture or document is not shown. */
      unshown?: string;
      /** Of audio that could not be transcribed, for the person: Markdown, in their language. */
      told?: string;
    }
  | {
      ok: false;
      /** For a model. Without a full stop. */
      reason: string;
      /** For the person: Markdown, in their language. */
      told: string;
    }
>;

/** What became of this very attachment; undefined if nobody tried to fetch it. */
export type ReceivedOf = (attachment: Attachment) => Received | undefined;

/**
 * Fetches what came with a message, what it quotes, and the newest pictures said before it, each once: called again it finds
 * what is there already. A file that can't be had is an outcome. Throws only at a shutdown.
 */
export type Receive = (
  message: Message,
  background: readonly Message[],
  signal: AbortSignal,
) => Promise<ReceivedOf>;

/** For who receives no files. */
export const nothingReceived: ReceivedOf = () => undefined;
