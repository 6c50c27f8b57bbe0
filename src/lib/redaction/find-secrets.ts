/** A place in a text in UTF-16 units. `end` is exclusive. */
export type Stretch = Readonly<{ start: number; end: number; name: string }>;

/** Finds fixed words, also with line breaks anywhere inside, as `base64` and `fold` make them. */
export type FindSecrets = Readonly<{
  /** All places in order. Overlapping words are one place, named after the first. */
  all(text: string): readonly Stretch[];
  /** Where an unfinished word may begin; otherwise the length of the text. */
  openFrom(text: string): number;
}>;

const lineBreaks = /[\r\n]+/g;
const block = 3;
const slots = 1 << 16;

/**
 * Makes a finder of `words`, which map to names and have 8 characters or more without line breaks. By the method of Wu
 * and Manber, the last three characters of a window decide how far to skip, so that most text is never read.
 */
export function createFindSecrets(words: ReadonlyMap<string, string>): FindSecrets {
  const named = new Map([...words].map(([word, name]) => [word.replace(lineBreaks, ''), name]));
  const sorted = [...named.keys()].sort();
  const shortest = Math.min(...sorted.map(({ length }) => length));
  const longest = Math.max(...sorted.map(({ length }) => length));
  const { skips, ending } = tablesOf(sorted, shortest);
  const beginnings = new Set(sorted.map((word) => word.slice(0, block)));

  function wordAt(flat: string, start: number, end: number): string | undefined {
    return ending.get(hash(flat, end))?.find((word) => flat.startsWith(word, start));
  }

  function stretchesIn(flat: string): readonly Stretch[] {
    const found: { start: number; end: number; name: string }[] = [];
    for (let at = shortest - 1; at < flat.length;) {
      const skip = skips[hash(flat, at)] ?? 0;
      if (skip > 0) {
        at += skip;
        continue;
      }
      const start = at - shortest + 1;
      const word = wordAt(flat, start, at);
      at += 1;
      if (word === undefined) continue;
      const last = found.at(-1);
      const end = start + word.length;
      if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
      else found.push({ start, end, name: named.get(word) ?? '' });
    }
    return found;
  }

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
      if (text.length < shortest) return [];
      const flat = withoutLineBreaks(text);
      return inText(text, flat, stretchesIn(flat));
    },
    openFrom(text) {
      const flat = withoutLineBreaks(text);
      let open = Math.max(0, flat.length - longest + 1);
      while (open < flat.length && !mayGoOn(flat, open)) open += 1;
      if (open >= flat.length) return text.length;
      const [stretch] = inText(text, flat, [{ start: open, end: flat.length, name: '' }]);
      return stretch?.start ?? text.length;
    },
  };
}

type Tables = Readonly<{
  skips: Uint8Array;
  /** Words by the last characters of the window they may begin with, longest first. */
  ending: ReadonlyMap<number, readonly string[]>;
}>;

function tablesOf(words: readonly string[], shortest: number): Tables {
  const farthest = Math.min(255, shortest - block + 1);
  const skips = new Uint8Array(slots).fill(farthest);
  const ending = new Map<number, string[]>();
  for (const word of words) {
    for (let end = block - 1; end < shortest; end++) {
      const slot = hash(word, end);
      skips[slot] = Math.min(skips[slot] ?? 0, shortest - 1 - end);
    }
    const slot = hash(word, shortest - 1);
    ending.set(slot, [...(ending.get(slot) ?? []), word]);
  }
  for (const list of ending.values()) list.sort((a, b) => b.length - a.length);
  return { skips, ending };
}

function hash(text: string, end: number): number {
  return (
    ((text.charCodeAt(end - 2) << 10) ^ (text.charCodeAt(end - 1) << 5) ^ text.charCodeAt(end)) & (slots - 1)
  );
}

function withoutLineBreaks(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replace(lineBreaks, '') : text;
}

function inText(text: string, flat: string, stretches: readonly Stretch[]): readonly Stretch[] {
  if (stretches.length === 0 || flat.length === text.length) return stretches;
  const breaks = text.matchAll(lineBreaks);
  let next = breaks.next().value;
  let removed = 0;
  const place = (index: number): number => {
    for (; next !== undefined && next.index - removed <= index; next = breaks.next().value)
      removed += next[0].length;
    return index + removed;
  };
  return stretches.map(({ start, end, name }) => ({ start: place(start), end: place(end - 1) + 1, name }));
}
