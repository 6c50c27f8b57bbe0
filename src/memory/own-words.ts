import type { Entry } from '../core/entry.ts';
import { labels } from '../lib/text/escape-labels.ts';

type UserEntry = Extract<Entry, { kind: 'user' }>;

const opening = new RegExp(`^<(${labels.join('|')})((?: [a-z]+="[^"]*")*)>$`);
const ownPiece = /^(?: [a-z]+="[^"]*")* id="([^"]*)"/;
/** Characters in a row that tell where a text is from. */
const tellingRun = 12;
/** What an inflected word has more. */
const longestEnding = 3;
/** Characters of a conversation in all: of a longer one nobody is kept waiting, and the person is asked (S9). */
const mostRead = 2_000_000;

type Words = Readonly<{ own: string; foreign: string }>;

/** What the sender typed, and what came along in labels: quotes, passed on and overheard words, files (M11). */
export function wordsIn({ content, sender, files = [] }: UserEntry): Words {
  const text = typeof content === 'string' ? content : content.flatMap(textOf).join('\n');
  const own: string[] = [];
  const foreign: string[] = [];
  let inside: string | undefined;
  let isOwn = true;
  for (const line of text.split('\n')) {
    const [, label, attributes = ''] = inside === undefined ? (opening.exec(line) ?? []) : [];
    if (label !== undefined) {
      inside = label;
      // In groups a label names who wrote; overheard messages stand inside another label.
      isOwn = label === 'message' && sender !== undefined && ownPiece.exec(attributes)?.[1] === sender;
    } else if (line === `</${inside}>`) {
      inside = undefined;
      isOwn = true;
    } else if (isOwn) own.push(line);
    else if (inside !== 'host') foreign.push(line);
  }
  if (files.length > 0) foreign.push('(files)');
  return { own: own.join('\n').trim(), foreign: foreign.join('\n').trim() };
}

function textOf(block: Readonly<{ type: string; text?: unknown }>): readonly string[] {
  return block.type === 'text' && typeof block.text === 'string' ? [block.text] : [];
}

type Source = 'own' | 'free' | 'foreign';

/**
 * Whose words a text has (K2, S13). `own`: the requester typed all of it here. `free`: nobody else's words are here that it
 * could have. `foreign`: it may be somebody else's, so the person is asked. No mark is ever dropped by it.
 */
export function sourceOf(text: string, entries: readonly Entry[], requester: string): Source {
  return judge(readNote(text), entries, requester);
}

/** The last entry from which alone the text may be somebody else's. */
export function lastForeign(
  text: string,
  entries: readonly Entry[],
  requester: string,
): Exclude<Entry, { kind: 'assistant' }> | undefined {
  const note = readNote(text);
  return entries
    .filter((entry) => entry.kind !== 'assistant')
    .findLast((entry) => judge(note, [entry], requester) === 'foreign');
}

/** A text that is judged: its runs, and its words but for those that only frame others, each once. */
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

/** Each text is read once, whatever the note: nothing here looks for one text in another (S9). */
function judge(note: Note, entries: readonly Entry[], requester: string): Source {
  const own: string[] = [];
  const foreign: string[] = [];
  for (const entry of entries) {
    if (entry.kind === 'tool_result' || entry.kind === 'summary')
      foreign.push(entry.kind === 'summary' ? entry.text : entry.content);
    if (entry.kind !== 'user') continue;
    const words = wordsIn(entry);
    const isTyped = entry.sender === requester && entry.about === undefined && entry.unattended !== true;
    (isTyped ? own : foreign).push(words.own);
    foreign.push(words.foreign);
  }
  const length = [...own, ...foreign].reduce((sum, each) => sum + each.length, note.length);
  if (length > mostRead) return 'foreign';
  const typed = own.map(plain).join('\n');
  const others = foreign.map(plain).join('\n');
  if (others.trim() === '') return isTypedIn(note, typed) ? 'own' : 'free';
  const unknown = new Set(note.runs);
  for (const run of runsOf(typed)) unknown.delete(run);
  if (unknown.size > 0) for (const run of runsOf(others)) if (unknown.has(run)) return 'foreign';
  return isTypedIn(note, typed) ? 'own' : 'foreign';
}

function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** Letters, digits and symbols: spaces and punctuation hide nothing. */
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

/** Words that say nothing by themselves, in which a model puts what was said in the first person into the third. */
const framing = new Set(
  (
    'a an the of to in on at is are was be and or for by as it its he she his her they them their i my me we our you your ' +
    'am has have had with from that this person user prefers prefer likes like wants want name named called will'
  ).split(' '),
);

/** A letter of a script that is written without spaces, or whose words change with each use. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]/u;

/** Each word of it is typed, or a form of a typed one, or only frames others. */
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

/** Words, addresses and numbers whole; each symbol alone. */
function piecesOf(text: string): readonly string[] {
  const words = text.match(/[\p{L}\p{M}\p{N}]+(?:[@.:/_-]+[\p{L}\p{M}\p{N}]+)*|\p{S}/gu) ?? [];
  return words.flatMap((word) => (unspaced.test(word) ? (word.match(byScript) ?? []) : [word]));
}

const byScript = new RegExp(
  `(?:${unspaced.source}|\\p{M})+|(?:(?!${unspaced.source})[\\p{L}\\p{N}@.:/_-])+`,
  'gu',
);

/** All of it stands in what was typed, by its single characters and pairs, but for an ending behind at least two characters. */
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

/** `like` of `likes`, `prefer` of `preferred`: notes say in the third person what was said in the first. */
function shorterForms(word: string): readonly string[] {
  if (!/^\p{L}{5,}$/u.test(word)) return [];
  return Array.from({ length: longestEnding }, (_, cut) => word.slice(0, -1 - cut)).filter(
    (form) => form.length >= 4,
  );
}
