/** A place in a text in UTF-16 units. `end` is exclusive. */
export type Stretch = Readonly<{ start: number; end: number; name: string }>;

/** Finds fixed words, also with line breaks anywhere inside, as `base64` and `fold` make them. */
export type FindSecrets = Readonly<{
  /** All places in order. Overlapping words are one place, named after the first. */
  all(text: string): readonly Stretch[];
  /** Where an unfinished word may begin; otherwise the length of the text. */
  openFrom(text: string): number;
}>;

const lineBreaks = /[\r\n]/g;
const block = 3;
const lastSlot = 0xffff;

/**
 * Makes a finder of `words`, which map to names and have 8 characters or more without line breaks. By the method of Wu
 * and Manber, the last three characters of a window decide how far to skip, so that most text is never read.
 */
export function createFindSecrets(words: ReadonlyMap<string, string>): FindSecrets {
  const named = new Map([...words].map(([word, name]) => [word.replace(lineBreaks, ''), name]));
  const sorted = [...named.keys()].sort();
  const shortest = Math.min(...sorted.map(({ length }) => length));
  const longest = Math.max(...sorted.map(({ length }) => length));
  const beginnings = new Set(sorted.map((word) => word.slice(0, block)));
  const { skips, ending } = tablesOf(named, shortest);

  function stretchesIn(flat: string): readonly Stretch[] {
    const found: { start: number; end: number; name: string }[] = [];
    for (let at = shortest - 1; at < flat.length;) {
      const slot = hash(flat, at);
      const skip = skips[slot] ?? 0;
      if (skip > 0) {
        at += skip;
        continue;
      }
      const start = at - shortest + 1;
      const known = ending.get(slot)?.find(([word]) => flat.startsWith(word, start));
      at += 1;
      if (known === undefined) continue;
      const [word, name] = known;
      const last = found.at(-1);
      const end = start + word.length;
      if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
      else found.push({ start, end, name });
    }
    return found;
  }

  /** Whether what begins here is the beginning of a longer word. */
  function mayGoOn(flat: string, start: number): boolean {
    const rest = flat.slice(start);
    if (rest.length >= block && !beginnings.has(rest.slice(0, block))) return false;
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] ?? '') <= rest) low = middle + 1;
      else high = middle;
    }
    return sorted[low]?.startsWith(rest) === true;
  }

  return {
    all(text) {
      const found = stretchesIn(text.replace(lineBreaks, ''));
      // Most texts hold none, and those are many.
      if (found.length === 0) return found;
      const place = placesIn(text);
      return found.map(({ start, end, name }) => ({ start: place(start), end: place(end - 1) + 1, name }));
    },
    openFrom(text) {
      const flat = text.replace(lineBreaks, '');
      for (let open = Math.max(0, flat.length - longest); open < flat.length; open++)
        if (mayGoOn(flat, open)) return placesIn(text)(open);
      return text.length;
    },
  };
}

type Tables = Readonly<{
  skips: Uint8Array;
  /** Words and their names by the last characters of the window they may begin with, longest first. */
  ending: ReadonlyMap<number, readonly (readonly [word: string, name: string])[]>;
}>;

function tablesOf(named: ReadonlyMap<string, string>, shortest: number): Tables {
  const farthest = Math.min(255, shortest - block + 1);
  const skips = new Uint8Array(lastSlot + 1).fill(farthest);
  for (const word of named.keys())
    for (let end = block - 1; end < shortest; end++) {
      const slot = hash(word, end);
      skips[slot] = Math.min(skips[slot] ?? 0, shortest - 1 - end);
    }
  const longestFirst = [...named].sort(([a], [b]) => b.length - a.length);
  return { skips, ending: Map.groupBy(longestFirst, ([word]) => hash(word, shortest - 1)) };
}

function hash(text: string, end: number): number {
  return (
    ((text.charCodeAt(end - 2) << 10) ^ (text.charCodeAt(end - 1) << 5) ^ text.charCodeAt(end)) & lastSlot
  );
}

/** Returns the place in the text for each of rising places in the text without its line breaks. */
function placesIn(text: string): (index: number) => number {
  const breaks = text.matchAll(lineBreaks);
  let next = breaks.next().value;
  let removed = 0;
  return (index) => {
    for (; next !== undefined && next.index - removed <= index; next = breaks.next().value) removed += 1;
    return index + removed;
  };
}
