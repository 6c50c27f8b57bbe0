/** Calls `visit` with every case of a product, one value of each list, and gives how many there were. */
export function walkProduct<Case>(
  lists: { readonly [Key in keyof Case]: readonly Case[Key][] },
  visit: (one: Case) => void,
): number {
  const entries = Object.entries<readonly unknown[]>(lists);
  const total = entries.reduce((product, [, values]) => product * values.length, 1);
  for (let index = 0; index < total; index++) {
    let rest = index;
    const one: Record<string, unknown> = {};
    for (const [key, values] of entries) {
      one[key] = values[rest % values.length];
      rest = Math.floor(rest / values.length);
    }
    visit(one as Case);
  }
  return total;
}
