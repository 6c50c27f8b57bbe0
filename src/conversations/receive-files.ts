import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Channel } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import { createDeadline, monotonicClock } from '../lib/async/deadline.ts';
import { FetchFileError } from '../core/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Attachment, Message } from '../core/message.ts';
import {
  documentType,
  nothingReceived,
  pictureTypes,
  type Received,
  type ReceivedOf,
} from '../core/received.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import type { ReadOffice } from '../lib/files/read-office.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { fixed, sayIn, type Say, type Words } from '../core/texts/say.ts';
import { inlineCode } from '../lib/text/text.ts';
import { heardIn, spokenIn, textIn, textsMost } from './text-of-file.ts';
import type { Transcribe } from './transcribe.ts';
import type { Folders } from '../folders/folders.ts';
import type { ChatMigrations } from '../access/chat-migrations.ts';
import type { KeptFile, ReceivedFiles } from '../runs/received-files.ts';
import { storeFault } from '../store/store-fault.ts';
import { chatFolder } from '../tools/built-in/run-folders.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';

/**
 * Limits for one message: number of files, bytes of one and of all, quoted pictures, and how many earlier messages may
 * bring pictures.
 */
const most = { files: 10, bytesEach: 20_000_000, bytes: 50_000_000, quoted: 5, messagesBack: 5 };
/** Milliseconds that all downloads of a message may take together. */
const longestMs = 60_000;
/** Milliseconds to wait before a broken download is tried again. */
const waitsMs = [0, 1_000, 4_000];
/**
 * The Messages API accepts pictures of 5 MB and requests of 32 MB, both as base64 (AN). These are bytes before
 * encoding.
 */
const shownMost = {
  picture: 3_900_000,
  document: 15_000_000,
  bytes: 18_000_000,
};

const unshownTypes: Readonly<Record<string, string>> = {
  'image/heic': 'a model can not see HEIC: JPEG or PNG it can',
  'image/avif': 'a model can not see AVIF: JPEG or PNG it can',
  'application/x-ole-storage': 'DOCX, XLSX and PPTX without a password can be read',
  audio: 'a model can not hear it: the operator of this bot can set [tools.transcribe]',
  video: 'a model can not watch it',
};

type Wanted = Readonly<{ attachment: Attachment; sender?: string | undefined; refused?: Words }>;

export type ReceiveFilesDeps = Readonly<{
  runtime: () => RuntimeConfig;
  channels: ReadonlyMap<string, Channel>;
  received: ReceivedFiles;
  migrations: ChatMigrations;
  sandbox: Sandbox;
  folders: Folders;
  transcribe: Transcribe;
  readOffice: ReadOffice;
  clock: Clock;
  log: Log;
}>;

export type Receiving = Readonly<{
  chat: string;
  channel: Channel | undefined;
  signal: AbortSignal;
  /**
   * What is left for the other files of the message. `ms` is the time for downloads; waiting for the store does not use
   * it.
   */
  left: { bytes: number; shown: number; texts: number; ms: number };
  deps: ReceiveFilesDeps;
}>;

/** Downloads the files of a message, and those that it quotes, into the conversation's folder (M12). */
export async function receiveFiles(
  message: Message,
  background: readonly Message[],
  signal: AbortSignal,
  deps: ReceiveFilesDeps,
): Promise<ReceivedOf> {
  const wanted = wantedOf(message, background);
  if (wanted.length === 0) return nothingReceived;
  const { folders, migrations, channels } = deps;
  const place = await migrations.original(message.conversation);
  const receiving: Receiving = {
    chat: chatFolder(folders.root, place),
    channel: channels.get(message.conversation.channel),
    signal,
    left: { bytes: most.bytes, shown: shownMost.bytes, texts: textsMost, ms: longestMs },
    deps,
  };
  const outcomes = new Map<Attachment, Received>();
  for (const one of wanted)
    outcomes.set(one.attachment, await receive(one, sayIn(message.sender.language), receiving));
  return (attachment) => outcomes.get(attachment);
}

async function receive(wanted: Wanted, say: Say, receiving: Receiving): Promise<Received> {
  const { attachment } = wanted;
  const kept = await keep(wanted, receiving);
  if (typeof kept === 'object') return toReceived(kept, wanted, say, receiving);
  const told = say`I couldn’t read ${inlineCode(attachment.name)}: ${say(kept)}.`;
  return { ok: false, reason: sayIn(undefined)(kept), told };
}

/** Fetches a smaller copy of a picture that is too large. Undefined if the platform has none. */
async function smaller({ attachment, sender }: Wanted, receiving: Receiving): Promise<KeptFile | undefined> {
  const { channel } = receiving;
  const { ref, name } = attachment;
  if (channel?.fetchSmaller === undefined || ref === undefined) return undefined;
  const copy = { ...attachment, ref, name: `smaller-${name}`, size: undefined };
  const { fetchSmaller } = channel;
  const smallerOf = { attachment: { ...copy, ref: `${ref}/smaller` }, sender };
  const kept = await keep(smallerOf, receiving, (_, ...where) => fetchSmaller(copy, ...where));
  return typeof kept === 'object' && pictureTypes.has(kept.mime) ? kept : undefined;
}

async function keep(
  { attachment, sender, refused }: Wanted,
  receiving: Receiving,
  fetchFile = receiving.channel?.fetchFile,
): Promise<KeptFile | Words> {
  const { chat, signal, left, deps } = receiving;
  const { ref, name, mime, size = 0, missing } = attachment;
  const { diskMb } = deps.runtime().config.sandbox;
  if (refused !== undefined) return refused;
  if (missing !== undefined) return missingWords[missing];
  if (ref === undefined || fetchFile === undefined) return fixed`files of this type can’t be downloaded`;
  const room = left.bytes;
  if (size > room) return overTogether;
  const maxBytes = Math.min(most.bytesEach, room);
  const fetch = (to: string): Promise<void> =>
    fetchPatiently(
      (until) => fetchFile({ ...attachment, ref }, { path: to, maxBytes }, until),
      to,
      receiving,
    );
  try {
    const file = { ref, name, mime, sender };
    const quota = diskMb * 1024 * 1024;
    const kept = await deps.received.keep(path.basename(chat), file, quota, fetch);
    if (kept === 'full')
      return (say) => say`the folder of this conversation is full (${say.number(diskMb)} MB)`;
    if (kept === 'disk full') return fixed`my disk is almost full: my operator can make room`;
    left.bytes -= kept.size;
    return kept;
  } catch (error) {
    if (isShuttingDown(signal)) throw signal.reason;
    if (signal.aborted) return fixed`it was stopped`;
    // If the store is away, the turn fails, and its next try gets the file.
    if (storeFault(error) !== undefined) throw error;
    const known = error instanceof FetchFileError;
    deps.log[known ? 'info' : 'error']({ err: error }, 'a file that a person sent could not be fetched');
    return known ? error.sentence : fixed`it could not be stored here`;
  }
}

async function toReceived(kept: KeptFile, wanted: Wanted, say: Say, receiving: Receiving): Promise<Received> {
  const { name, words, size, mime, sender } = kept;
  const { kind } = wanted.attachment;
  const { chat, left, deps } = receiving;
  const { transcribe } = deps.runtime().config.tools;
  const base = { ok: true, path: `${deps.sandbox.seen('chat', chat)}/${name}`, words, size } as const;
  const type = pictureTypes.has(mime) ? 'image' : mime === documentType ? 'document' : undefined;
  if (type !== undefined) {
    const tooLarge = type === 'image' && size > shownMost.picture;
    const seen = (tooLarge ? await smaller(wanted, receiving) : undefined) ?? kept;
    const unshown = whyUnshown(type, seen.size, left.shown);
    if (unshown !== undefined) return { ...base, unshown };
    left.shown -= seen.size;
    return { ...base, shown: { type, hash: seen.hash, mime: seen.mime, name, size: seen.size, sender } };
  }
  const isSpoken = kind === 'audio' || mime.startsWith('audio/');
  const heard = wanted.attachment.transcript;
  const spoken =
    transcribe !== undefined && isSpoken ? await spokenIn(kept, transcribe, say, receiving) : undefined;
  if (spoken !== undefined && (spoken.text !== undefined || heard === undefined))
    return { ...base, ...spoken };
  if (heard !== undefined) return { ...base, ...heardIn(heard, left) };
  const [family = ''] = mime.split('/');
  const unreadable = [mime, family].find((each) => Object.hasOwn(unshownTypes, each));
  if (unreadable !== undefined) return { ...base, unshown: unshownTypes[unreadable] };
  return { ...base, ...(await textIn(kept, say, receiving)) };
}

const missingWords: Readonly<Record<NonNullable<Attachment['missing']>, Words>> = {
  deleted: fixed`it was deleted`,
  hidden: fixed`this workspace’s plan no longer shows it`,
};

const overTogether = (say: Say): string =>
  say`the files of a message may have ${say.bytes(most.bytes)} in total`;

/** Files in the order in which the model sees them: its own, quoted ones, then pictures of earlier messages. */
function wantedOf(message: Message, background: readonly Message[]): readonly Wanted[] {
  const { attachments, replyTo, shared = [], sender } = message;
  const refused = (say: Say): string => say`only the first ${most.files} files of a message are downloaded`;
  const own = attachments.map((attachment, index): Wanted => ({
    attachment,
    sender: sender.id,
    refused: index < most.files ? undefined : refused,
  }));
  const quoted = [...(replyTo === undefined ? [] : [replyTo]), ...shared].flatMap((quote) =>
    (quote.attachments ?? []).map((attachment): Wanted => ({ attachment, sender: quote.sender })),
  );
  const before = background
    .slice(-most.messagesBack)
    .toReversed()
    .flatMap((said) =>
      said.attachments.filter(isPicture).map((attachment) => ({ attachment, sender: said.sender.id })),
    );
  return [...own, ...[...quoted, ...before].slice(0, most.quoted)];
}

function isPicture({ kind, mime = '', ref }: Attachment): boolean {
  return ref !== undefined && (kind === 'photo' || pictureTypes.has(mime));
}

function whyUnshown(type: 'image' | 'document', size: number, room: number): string | undefined {
  const largest = type === 'image' ? shownMost.picture : shownMost.document;
  if (size > largest)
    return `larger than ${sayIn(undefined).bytes(largest)}, the most a model is shown of one`;
  return size > room ? 'too much for one message' : undefined;
}

async function fetchPatiently(
  fetch: (until: AbortSignal) => Promise<void>,
  to: string,
  { signal, left, deps: { clock, log } }: Receiving,
): Promise<void> {
  const deadline = createDeadline(clock);
  const until = AbortSignal.any([signal, deadline.signal]);
  const now = monotonicClock(clock);
  const began = now();
  deadline.start(left.ms);
  try {
    for (const waitMs of waitsMs) {
      try {
        return await fetch(until);
      } catch (error) {
        if (!(error instanceof FetchFileError && error.passing)) throw error;
        log.info({ err: error, waitMs }, 'a download broke off; trying again');
      }
      await clock.sleep(waitMs, until);
      await rm(to, { force: true });
    }
    await fetch(until);
  } catch (error) {
    throw deadline.signal.aborted && !signal.aborted ? tookTooLong(error) : error;
  } finally {
    deadline.end();
    left.ms -= now() - began;
  }
}

function tookTooLong(cause: unknown): FetchFileError {
  const sentence = (say: Say): string => say`it took longer than ${longestMs / 1_000} seconds`;
  return new FetchFileError('a download took too long', { sentence, cause });
}
