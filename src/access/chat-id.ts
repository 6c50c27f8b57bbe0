/**
 * Whether one entry of a config list means this id. Entries are bare (`-100123`) or qualified
 * (`telegram:-100123`); ids are always qualified. Ids are compared exactly: no names, no case folding (A4, A9).
 */
export function meansId(entry: string, id: string): boolean {
  return entry === id || (!entry.includes(':') && entry === id.slice(id.indexOf(':') + 1));
}

export function listsId(entries: readonly string[], id: string): boolean {
  return entries.some((entry) => meansId(entry, id));
}
