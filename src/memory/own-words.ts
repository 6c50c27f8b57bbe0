import type { Entry } from '../core/entry.ts';
import { labels } from '../lib/text/escape-labels.ts';

type UserEntry = Extract<Entry, { kind: 'user' }>;

const opening = new RegExp(`^<(${labels.join('|')})((?: [a-z]+="[^"]*")*)>$`);
const ownPiece = /^(?: [a-z]+="[^"]*")* id="([^"]*)"/;
/** Characters in a row that tell where a text is from. */
const tellingRun = 12;
/** What an inflected word has more. */
const longestEnding = 3;

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

/**
 * Whose words a text has (K2, S13). `own`: the requester typed all of it here. `free`: nobody else's words are here that it
 * could have. `foreign`: it may be somebody else's, so the person is asked. No mark is ever dropped by it.
 */
export function sourceOf(
  text: string,
  entries: readonly Entry[],
  requester: string,
): 'own' | 'free' | 'foreign' {
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
  const typed = own.map(plain).join('\n');
  const others = foreign.map(plain).join('\n');
  if (others.trim() === '') return isTypedIn(text, typed) ? 'own' : 'free';
  const note = bare(plain(text));
  const [byThem, byOthers] = [bare(typed).join(''), bare(others).join('')];
  for (let at = 0; at + tellingRun <= note.length; at++) {
    const run = note.slice(at, at + tellingRun).join('');
    if (byOthers.includes(run) && !byThem.includes(run)) return 'foreign';
  }
  return isTypedIn(text, typed) ? 'own' : 'foreign';
}

function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** Letters, digits and symbols: spaces and punctuation hide nothing. */
function bare(text: string): readonly string[] {
  return Array.from(text).filter((character) => /[\p{L}\p{M}\p{N}\p{S}]/u.test(character));
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
function isTypedIn(text: string, typed: string): boolean {
  const known = new Set(piecesOf(typed));
  const characters = bare(typed).join('');
  return piecesOf(plain(text)).every((piece) =>
    unspaced.test(piece)
      ? isCovered(piece, characters)
      : known.has(piece) || framing.has(piece) || [...known].some((one) => isForm(piece, one)),
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

/** All of it stands in what was typed, but for an ending behind at least two characters. */
function isCovered(piece: string, typed: string): boolean {
  const characters = Array.from(piece);
  if (typed.includes(piece)) return true;
  const pairs = characters.slice(1).map((character, at) => `${characters[at] ?? ''}${character}`);
  const covered = pairs.findIndex((pair) => !typed.includes(pair));
  // The first pair that nobody typed begins at the last character that somebody did.
  const length = covered < 0 ? characters.length : covered + 1;
  return length >= 2 && characters.length - length <= (characters.length > 4 ? 2 : 1);
}

/** `likes` of `like`, `preferred` of `prefer`: notes say in the third person what was said in the first. */
function isForm(word: string, of: string): boolean {
  if (!/^\p{L}{4,}$/u.test(of) || !/^\p{L}+$/u.test(word)) return false;
  const [short, long] = word.length < of.length ? [word, of] : [of, word];
  return short.length >= 4 && long.startsWith(short) && long.length - short.length <= longestEnding;
}
