/** Cases of a product that a short run tries: SKILLET_FUZZ_RUNS of 10,000 or more tries every one. */
const shortRun = 250_000;

/**
 * Calls `visit` with the cases of a product, one value of each list, and gives how many it tried. A short run takes
 * evenly spread ones (a stride that shares no factor with any list, so that every pair of values meets).
 */
export function walkProduct<Case>(
  lists: { readonly [Key in keyof Case]: readonly Case[Key][] },
  visit: (one: Case) => void,
): number {
  const entries = Object.entries<readonly unknown[]>(lists);
  const total = entries.reduce((product, [, values]) => product * values.length, 1);
  const all = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200) >= 10_000;
  const stride = all ? 1 : strideFor(total);
  const step = Math.ceil(total / stride);
  for (let index = 0; index < step; index++) {
    let rest = index * stride;
    const one: Record<string, unknown> = {};
    for (const [key, values] of entries) {
      one[key] = values[rest % values.length];
      rest = Math.floor(rest / values.length);
    }
    visit(one as Case);
  }
  return step;
}

function strideFor(total: number): number {
  const primes = [1, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71];
  const prime = primes.find((one) => total / one <= shortRun);
  if (prime === undefined) throw new Error(`a product of ${total} cases is too large`);
  return prime;
}
