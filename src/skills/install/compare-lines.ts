/** A line of a comparison: `-` only before, `+` only after, blank in both; `@` stands for lines left out. */
export type ComparedLine = Readonly<{ mark: '-' | '+' | ' ' | '@'; text: string }>;

/** Unchanged lines shown around each change. */
const around = 3;
/** Beyond this many pairs of lines the middle is shown as replaced. */
const pairLimit = 4_000_000;

/** What changed from one text to another, line by line. Nothing that differs is left out. */
export function compareLines(before: string, after: string): readonly ComparedLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const unchanged = (lines: readonly string[]): ComparedLine[] => lines.map((text) => ({ mark: ' ', text }));
  const lines = [
    ...unchanged(a.slice(0, start)),
    ...compareMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...unchanged(a.slice(a.length - end)),
  ];
  return withoutFarOnes(lines);
}

function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : [...lines.slice(0, -1), `${lines.at(-1)}\\ no line end`];
}

/** By the longest common subsequence. */
function compareMiddle(a: readonly string[], b: readonly string[]): readonly ComparedLine[] {
  const removed = (text: string): ComparedLine => ({ mark: '-', text });
  const added = (text: string): ComparedLine => ({ mark: '+', text });
  if (a.length * b.length > pairLimit) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: ComparedLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      lines.push({ mark: ' ', text: left });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(left));
      i += 1;
    } else {
      lines.push(added(right ?? ''));
      j += 1;
    }
  }
  return lines;
}

function withoutFarOnes(lines: readonly ComparedLine[]): readonly ComparedLine[] {
  const near = new Set<number>();
  for (const [index, { mark }] of lines.entries()) {
    if (mark === ' ') continue;
    for (let other = index - around; other <= index + around; other += 1) near.add(other);
  }
  const kept: ComparedLine[] = [];
  let leftOut = 0;
  for (const [index, line] of lines.entries()) {
    if (!near.has(index)) leftOut += 1;
    else {
      if (leftOut > 0) kept.push({ mark: '@', text: `${leftOut} lines unchanged` });
      leftOut = 0;
      kept.push(line);
    }
  }
  return kept;
}
