/**
 * The largest count from 0 to `most` for which `fits` holds, taking that it holds for every smaller one. Asks about
 * counts near the answer only, so the cost is that of the answer and not of `most`.
 */
export function largestFit(most: number, fits: (count: number) => boolean): number {
  let good = 0;
  let step = 1;
  while (good < most && fits(Math.min(good + step, most))) {
    good = Math.min(good + step, most);
    step *= 2;
  }
  let bad = Math.min(good + step, most + 1);
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (fits(middle)) good = middle;
    else bad = middle;
  }
  return good;
}
