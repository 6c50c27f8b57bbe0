import type { Entry } from '../core/entry.ts';
import { labels } from '../lib/text/escape-labels.ts';
import { searchWords } from '../lib/text/search-words.ts';

type UserEntry = Extract<Entry, { kind: 'user' }>;

const opening = new RegExp(`^<(${labels.join('|')})((?: [a-z]+="[^"]*")*)>$`);
const ownPiece = /^(?: [a-z]+="[^"]*")* id="([^"]*)"/;
/** Letters of a word that tells something; digits always do. */
const tellingLetters = 4;
/** What an inflected word has more. */
const ending = /^\p{L}{0,3}$/u;

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
 * Whose words a memory has (K2). `own`: the requester typed all of its telling words here. `free`: nobody else's words
 * are here that it could have. `foreign`: it may be somebody else's.
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
    (entry.sender === requester && entry.about === undefined ? own : foreign).push(words.own);
    foreign.push(words.foreign);
  }
  const telling = tellingWords(text);
  const typed = new Set(own.flatMap(searchWords));
  const others = new Set(foreign.flatMap(searchWords));
  const untyped = telling.filter((word) => !typed.has(word));
  if (untyped.length === 0) return 'own';
  if (others.size === 0) return 'free';
  const strange = untyped.filter((word) => ![...typed].some((one) => isForm(word, one)));
  if (strange.length === 0) return 'free';
  const repeated = strange.filter((word) => others.has(word)).length;
  const isRepeated = repeated >= Math.min(2, telling.length);
  return isRepeated || strange.length * 2 > telling.length ? 'foreign' : 'free';
}

/** `likes` of `like`, `preferred` of `prefer`: notes say in the third person what was said in the first. */
function isForm(word: string, of: string): boolean {
  const [short, long] = word.length < of.length ? [word, of] : [of, word];
  const isBeginning = short.length >= tellingLetters && long.startsWith(short);
  return isBeginning && ending.test(long.slice(short.length));
}

function tellingWords(text: string): readonly string[] {
  const words = searchWords(text);
  const telling = words.filter((word) => word.length >= tellingLetters || /\p{N}|\p{Script=Han}/u.test(word));
  return telling.length === 0 ? words : telling;
}
