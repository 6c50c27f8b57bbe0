/** Up to three candidates that a mistyped word may have meant, nearest first; none when nothing is near. */
export function nearest(word: string, candidates: readonly string[]): readonly string[] {
  const wanted = word.toLowerCase();
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  return candidates
    .map((candidate) => ({ candidate, away: distance(wanted, candidate.toLowerCase()) }))
    .filter(
      ({ candidate, away }) =>
        away <= limit || (wanted.length > 2 && candidate.toLowerCase().includes(wanted)),
    )
    .sort((a, b) => a.away - b.away || a.candidate.localeCompare(b.candidate))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Edits (insert, delete, replace) between two words of at most 64 characters. */
function distance(a: string, b: string): number {
  const [left, right] = [a.slice(0, 64), b.slice(0, 64)];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
