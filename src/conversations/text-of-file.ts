import path from 'node:path';
import type { Received } from '../core/received.ts';
import { fixed, sayIn, type Say, type Words } from '../core/texts/say.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import { officeTypes } from '../lib/files/file-type.ts';
import type { UnreadOffice } from '../lib/files/read-office.ts';
import { fileText } from '../lib/files/read-text.ts';
import { inlineCode } from '../lib/text/text.ts';
import type { KeptFile } from '../runs/received-files.ts';
import type { Receiving } from './receive-files.ts';
import type { TranscribeSettings } from './transcribe.ts';

/** Most characters that are read of one file; `textsMost` is for all files of a message together. */
const textMost = 50_000;
export const textsMost = 100_000;

type Told = Partial<Pick<Received & { ok: true }, 'words' | 'text' | 'unshown' | 'told'>>;

/** The beginning of a text file or Office file, or the reason why it can't be read. */
export async function textIn(kept: KeptFile, say: Say, receiving: Receiving): Promise<Told> {
  const { left } = receiving;
  const isOffice = officeTypes.has(kept.mime);
  const read = await (isOffice ? officeIn(kept, receiving) : plainIn(kept, receiving));
  if (read === undefined) return {};
  if ('unshown' in read) return read;
  if ('why' in read) {
    const told = say`I couldn’t read ${inlineCode(kept.name)}: ${say(read.why)}.`;
    return { unshown: sayIn(undefined)(read.why), told };
  }
  const words = isOffice ? kept.words : 'text';
  if (left.texts <= 0) return { words, unshown: 'too much text for one message' };
  const text = read.text.slice(0, left.texts);
  left.texts -= text.length;
  if (text === read.text) return { words, text: read };
  return { words, text: { ...read, text, whole: false, cut: togetherCut() } };
}

// These are functions, because formatting the first number costs 20 ms and 5 MB, which the start need not pay (B4).
const togetherCut = (): string =>
  `the files of a message may bring ${textsMost.toLocaleString('en')} characters`;
const fileCut = (): string => `only the first ${textMost.toLocaleString('en')} characters of a file are read`;

type Read = Omit<NonNullable<(Received & { ok: true })['text']>, 'spoken'>;

async function plainIn({ hash, size }: KeptFile, { chat, deps }: Receiving): Promise<Read | undefined> {
  const bytes = await deps.received.read(path.basename(chat), hash, textMost);
  const text = bytes === undefined ? undefined : fileText(bytes, bytes.length < size);
  if (text === undefined) return undefined;
  const whole = size <= textMost;
  return whole ? { text, whole } : { text, whole, cut: fileCut() };
}

/** Reads an Office file in a worker thread, so that one person's document does not hold up others (S15). */
async function officeIn(
  { hash, size }: KeptFile,
  { chat, deps, signal }: Receiving,
): Promise<Read | Readonly<{ why: Words } | { unshown: string }> | undefined> {
  const bytes = await deps.received.read(path.basename(chat), hash, size);
  if (bytes === undefined) return undefined;
  const read = await deps.readOffice({ bytes, most: textMost }, signal).catch((error: unknown) => {
    if (isShuttingDown(signal) || !signal.aborted) throw error;
    return 'stopped' as const;
  });
  // The document may consist of pictures, which a skill can open.
  if (read === 'no text') return { unshown: 'there is no text in it' };
  if (typeof read === 'string') return { why: unreadWords[read] };
  const { text, whole, without } = read;
  const cut = text.length >= textMost ? fileCut() : 'some of it is too large or damaged';
  return {
    text,
    whole,
    ...(whole ? {} : { cut }),
    ...(without.length === 0 ? {} : { without: without.join(' and ') }),
  };
}

const unreadWords: Readonly<Record<Exclude<UnreadOffice, 'no text'> | 'stopped', Words>> = {
  damaged: fixed`it is damaged or has a password`,
  overlaps: fixed`parts of it overlap, as in damaged or harmful files`,
  time: fixed`reading it took too long`,
  stopped: fixed`it was stopped`,
  failed: fixed`it needs too much memory, or is built in a way that I don’t know`,
};

/** The words of a recording, by the operator's program or server. */
export async function spokenIn(
  { hash, name, mime, size }: KeptFile,
  settings: TranscribeSettings,
  say: Say,
  { chat, signal, left, deps }: Receiving,
): Promise<Told> {
  const bytes = await deps.received.read(path.basename(chat), hash, size);
  if (bytes === undefined) return {};
  const spoken = await deps.transcribe({ bytes, name, mime }, settings, signal);
  if ('problem' in spoken) {
    const told = say`I couldn’t understand the recording ${inlineCode(name)}. Please type it, or try again later.`;
    return { unshown: spoken.problem, told };
  }
  return heardIn({ text: spoken.text, whole: true }, left);
}

/** Cuts the words of a recording to what the message may still bring. */
export function heardIn(heard: Readonly<{ text: string; whole: boolean }>, left: Receiving['left']): Told {
  const text = heard.text.slice(0, Math.min(textMost, left.texts));
  left.texts -= text.length;
  return { text: { text, whole: heard.whole && text === heard.text, spoken: true } };
}
