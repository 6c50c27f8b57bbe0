/** The value below which a share of all values lies; `share` from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** `p50 3.1 ms, p95 4.4 ms (300)` */
export function describe(values: readonly number[]): string {
  return `p50 ${quantile(values, 0.5).toFixed(2)} ms, p95 ${quantile(values, 0.95).toFixed(2)} ms (${values.length})`;
}
