import type { Entry } from '../core/entry.ts';
import type { WordOrigin } from '../core/provenance.ts';
import { piecesIn, type Piece } from './word-pieces.ts';

type UserEntry = Extract<Entry, { kind: 'user' }>;

/** How many characters in a row show where a text is from. */
const tellingRun = 12;
/** How many letters an inflection may add to a word. */
const longestEnding = 3;
/**
 * How many characters of a conversation are read in total. In a longer one the person is asked, so that nobody waits
 * long (S9).
 */
const mostRead = 2_000_000;

type Words = Readonly<{ own: string; foreign: string }>;

/** What the sender typed, and what came along in labels: quotes, forwarded and background messages, files (M11). */
export function wordsIn(entry: UserEntry): Words {
  const pieces = piecesIn(entry);
  const join = (isOwn: boolean): string =>
    pieces
      .filter((piece) => piece.isOwn === isOwn)
      .map(({ text }) => text)
      .join('\n')
      .trim();
  return { own: join(true), foreign: join(false) };
}

type Source = 'own' | 'free' | 'foreign';

/**
 * Whose words a text has (K2, S13). `own`: the requester typed all of it here. `free`: nobody else has words here that
 * it could have. `foreign`: the words may be somebody else's, so the person is asked. The taint of a text never depends
 * on this.
 */
export function sourceOf(text: string, entries: readonly Entry[], requester: string): Source {
  return judge(readNote(text), entries, requester);
}

/**
 * Where the foreign words of a text come from, or else the last foreign words that were said. Undefined if nobody else
 * said anything.
 */
export function originIn(text: string, entries: readonly Entry[], requester: string): WordOrigin {
  const foreign = entries.flatMap((entry) => piecesOfEntry(entry, requester)).filter(({ isOwn }) => !isOwn);
  return borrowedFrom(text, entries, requester) ?? foreign.at(-1)?.from;
}

/**
 * Who said the part of a text that the requester did not type: first who said its longest stretch, then who said a
 * telling word. Undefined: nobody did, so the rest is the model's own.
 */
export function borrowedFrom(text: string, entries: readonly Entry[], requester: string): WordOrigin {
  const note = readNote(text);
  const pieces = entries.flatMap((entry) => piecesOfEntry(entry, requester));
  if (pieces.reduce((sum, piece) => sum + piece.text.length, note.length) > mostRead)
    return { words: 'unknown' };
  const typed = plain(
    pieces
      .filter(({ isOwn }) => isOwn)
      .map((piece) => piece.text)
      .join('\n'),
  );
  const foreign = pieces
    .filter(({ isOwn }) => !isOwn)
    .map(({ text: said, from }) => ({ from, said: plain(said) }));
  const runs = without(note.runs, runsOf(typed));
  const words = without(note.pieces, piecesOf(typed));
  const from =
    foreign.findLast(({ said }) => hasAny(runs, runsOf(said))) ??
    foreign.findLast(({ said }) => hasAny(words, piecesOf(said)));
  return from?.from;
}

function without(all: readonly string[], known: Iterable<string>): ReadonlySet<string> {
  const left = new Set(all);
  for (const one of known) left.delete(one);
  return left;
}

function hasAny(wanted: ReadonlySet<string>, found: Iterable<string>): boolean {
  if (wanted.size > 0) for (const one of found) if (wanted.has(one)) return true;
  return false;
}

/** A text that is judged: its runs, and its words except those that only frame others, each once. */
type Note = Readonly<{ length: number; runs: readonly string[]; pieces: readonly string[] }>;

function readNote(text: string): Note {
  if (text.length > mostRead) return { length: text.length, runs: [], pieces: [] };
  const shown = plain(text);
  return {
    length: text.length,
    runs: [...runsOf(shown)],
    pieces: [...new Set(piecesOf(shown))].filter((piece) => !framing.has(piece)),
  };
}

/** The pieces of an entry. Only what the requester typed counts as own; all else is somebody else's. */
function piecesOfEntry(entry: Entry, requester: string): readonly Piece[] {
  if (entry.kind === 'summary') return [{ text: entry.text, isOwn: false, from: { words: 'unknown' } }];
  if (entry.kind === 'tool_result') return [{ text: entry.content, isOwn: false, from: { words: 'tool' } }];
  if (entry.kind !== 'user') return [];
  if (entry.sender === requester && entry.about === undefined && entry.unattended !== true)
    return piecesIn(entry);
  const words =
    entry.unattended === true
      ? 'event'
      : entry.about === undefined
        ? ('unknown' as const)
        : ('tool' as const);
  return piecesIn(entry).map((piece) => ({
    ...piece,
    isOwn: false,
    from: piece.from.words === 'typed' || piece.from.words === 'unknown' ? { words } : piece.from,
  }));
}

/** Each text is read once, whatever the note is, because searching for one text in another takes too long (S9). */
function judge(note: Note, entries: readonly Entry[], requester: string): Source {
  const pieces = entries.flatMap((entry) => piecesOfEntry(entry, requester));
  const own = pieces.filter(({ isOwn }) => isOwn).map(({ text }) => text);
  const foreign = pieces.filter(({ isOwn }) => !isOwn).map(({ text }) => text);
  const length = [...own, ...foreign].reduce((sum, each) => sum + each.length, note.length);
  if (length > mostRead) return 'foreign';
  const typed = own.map(plain).join('\n');
  const others = foreign.map(plain).join('\n');
  if (others.trim() === '') return isTypedIn(note, typed) ? 'own' : 'free';
  if (hasAny(without(note.runs, runsOf(typed)), runsOf(others))) return 'foreign';
  return isTypedIn(note, typed) ? 'own' : 'foreign';
}

function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** Only letters, digits and symbols, so that spaces and punctuation hide nothing. */
function bare(text: string): readonly string[] {
  return text.match(/[\p{L}\p{M}\p{N}\p{S}]/gu) ?? [];
}

function* runsOf(text: string): Generator<string> {
  const characters = bare(text);
  const joined = characters.join('');
  let from = 0;
  let to = 0;
  for (const [at, { length }] of characters.entries()) {
    to += length;
    if (at + 1 < tellingRun) continue;
    yield joined.slice(from, to);
    from += characters[at + 1 - tellingRun]?.length ?? 0;
  }
}

/** Words with no meaning of their own. A model adds them when it turns the first person into the third. */
const framing = new Set(
  (
    'a an the of to in on at is are was be and or for by as it its he she his her they them their i my me we our you your ' +
    'am has have had with from that this person user prefers prefer likes like wants want name named called will'
  ).split(' '),
);

/** A letter of a script that has no spaces, or whose words change with each use. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]/u;

/** Whether each word is typed, a form of a typed word, or only frames others. */
function isTypedIn({ pieces }: Note, typed: string): boolean {
  const known = new Set(piecesOf(typed));
  const stems = new Set([...known].flatMap(shorterForms));
  const characters = bare(typed);
  const stretches = new Set([...characters, ...pairsOf(characters)]);
  return pieces.every((piece) =>
    unspaced.test(piece)
      ? isCovered(piece, stretches)
      : known.has(piece) || stems.has(piece) || shorterForms(piece).some((form) => known.has(form)),
  );
}

/** The words of a text. Addresses and numbers stay whole, and each symbol is alone. */
function piecesOf(text: string): readonly string[] {
  const words = text.match(/[\p{L}\p{M}\p{N}]+(?:[@.:/_-]+[\p{L}\p{M}\p{N}]+)*|\p{S}/gu) ?? [];
  return words.flatMap((word) => (unspaced.test(word) ? (word.match(byScript) ?? []) : [word]));
}

const byScript = new RegExp(
  `(?:${unspaced.source}|\\p{M})+|(?:(?!${unspaced.source})[\\p{L}\\p{N}@.:/_-])+`,
  'gu',
);

/**
 * Whether single characters and pairs that were typed make up the whole piece, except for an ending after at least two
 * characters.
 */
function isCovered(piece: string, stretches: ReadonlySet<string>): boolean {
  const characters = Array.from(piece);
  if (characters.length === 1) return stretches.has(piece);
  const covered = pairsOf(characters).findIndex((pair) => !stretches.has(pair));
  // The first pair that nobody typed begins at the last character that somebody did.
  const length = covered < 0 ? characters.length : covered + 1;
  return length >= 2 && characters.length - length <= (characters.length > 4 ? 2 : 1);
}

function pairsOf(characters: readonly string[]): readonly string[] {
  return characters.slice(1).map((character, at) => `${characters[at] ?? ''}${character}`);
}

/**
 * Shorter forms of a word, such as `like` of `likes` or `prefer` of `preferred`, because notes turn the first person
 * into the third.
 */
function shorterForms(word: string): readonly string[] {
  if (!/^\p{L}{5,}$/u.test(word)) return [];
  return Array.from({ length: longestEnding }, (_, cut) => word.slice(0, -1 - cut)).filter(
    (form) => form.length >= 4,
  );
}
