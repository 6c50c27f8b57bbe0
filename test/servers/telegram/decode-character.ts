const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/**
 * The character that `&lt;`, `&#60;` or `&#x3c;` at the start of `characters` stands for, and how many characters say
 * so; the semicolon may be missing. Nothing for anything else, which then stays as it is written.
 */
export function decodeCharacter(
  characters: readonly string[],
): Readonly<{ character: string; length: number }> | undefined {
  const text = characters.join('');
  const found = /^&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z]+))(;?)/i.exec(text);
  if (found === null) return undefined;
  const [whole, hex, decimal, name] = found;
  const character = name === undefined ? fromCode(hex, decimal) : named[name];
  return character === undefined ? undefined : { character, length: whole.length };
}

function fromCode(hex: string | undefined, decimal: string | undefined): string | undefined {
  const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
  return code > 0 && code < 0x10ffff ? String.fromCodePoint(code) : undefined;
}
