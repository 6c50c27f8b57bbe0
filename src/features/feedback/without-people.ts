/** What names or reaches people in a text, with what takes its place. */
const patterns: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu, 'person@example.com'],
  [/<@[UW][A-Z0-9]{1,20}(?:\|[^>\n]{0,80})?>/g, '@person'],
  [/\b(?:telegram|slack):[A-Za-z0-9-]{1,40}/g, 'PERSON'],
  // The user part of an address, and mentions.
  [/(?<![\p{L}\p{N}/@])@[\p{L}\p{N}_]{3,64}/gu, '@person'],
  [/(?<![\p{L}\p{N}])\+?\d(?:[ ()/.-]?\d){8,14}(?![\p{L}\p{N}])/gu, '000 0000000'],
  [/\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,4})?\b/g, 'XX00 0000 0000 0000'],
];

/**
 * The text without e-mail addresses, telephone and account numbers, mentions and ids of people. Names are not found, so
 * a person still has to read it.
 */
export function withoutPeople(text: string): string {
  return patterns.reduce((all, [pattern, instead]) => all.replace(pattern, instead), text);
}
