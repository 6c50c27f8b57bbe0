/** Words of a command line as a shell would split them: single and double quotes, backslash; an open quote ends with the text. Nothing is expanded. */
export function splitArguments(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    const escapes = quote === undefined ? next !== '' : quote === '"' && (next === '"' || next === '\\');
    if (character === '\\' && escapes) {
      word = (word ?? '') + next;
      at += 1;
    } else if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  return word === undefined ? words : [...words, word];
}
