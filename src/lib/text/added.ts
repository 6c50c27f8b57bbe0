/** Of the things given now, those that were not among the ones given the time before, by what they hold. */
export function createNewSince<Thing>(): (things: readonly Thing[]) => readonly Thing[] {
  let before: ReadonlySet<string> = new Set();
  return (things) => {
    const texts = things.map((thing) => JSON.stringify(thing));
    const known = before;
    before = new Set(texts);
    return things.filter((_, index) => !known.has(texts[index] ?? ''));
  };
}
