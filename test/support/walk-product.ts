/**
 * Calls `visit` with every case of a product, one value of each list, and gives how many there were. It is one object
 * that changes from call to call: products have millions of cases.
 */
export function walkProduct<Case>(
  lists: { readonly [Key in keyof Case]: readonly Case[Key][] },
  visit: (one: Case) => void,
): number {
  const entries = Object.entries<readonly unknown[]>(lists);
  const one = Object.fromEntries(entries.map(([key, values]) => [key, values[0]]));
  const places = entries.map(() => 0);
  for (let count = 0; ;) {
    visit(one as Case);
    count += 1;
    let turn = 0;
    for (; turn < entries.length; turn++) {
      const [key, values] = entries[turn] ?? ['', []];
      const next = ((places[turn] ?? 0) + 1) % values.length;
      places[turn] = next;
      one[key] = values[next];
      if (next !== 0) break;
    }
    if (turn === entries.length) return count;
  }
}
