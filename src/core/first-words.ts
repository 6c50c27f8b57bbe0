/** The key of the words that a person is told once (U19). Its parts in the outbox have a place behind it. */
export function firstWordsKey(person: string): string {
  return `first-words:${person}`;
}

/** Whom the part with this key tells the first words. Undefined for any other part. */
export function toldFirst(part: string): string | undefined {
  return /^first-words:([^#]+)#/.exec(part)?.[1];
}

/** Commands that show and delete what is kept of a person. Each text of first words names them. */
export const namedFirst = ['memory', 'forget'] as const;

/** Writes these commands in an operator's text as `write` names them. The operator writes them with a slash. */
export function nameCommands(text: string, write: (name: string) => string): string {
  const named = new RegExp(`\`?/(${namedFirst.join('|')})\\b(?: me\\b)?\`?`, 'g');
  return text.replace(named, (_, name: string) => write(name));
}
