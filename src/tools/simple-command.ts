/**
 * The words of one simple command, as a shell would pass them on, or nothing where the text is more than that: an
 * operator, an expansion, a substitution, a line end, an unclosed quote (T5). Whatever could mean more than itself to
 * any shell is refused, so the words can be spawned as an argument vector.
 */
export function parseSimpleCommand(command: string): readonly string[] | undefined {
  const words: string[] = [];
  const token = /[ \t]+|'([^'\p{Cc}]*)'|"([^"$`\\!\p{Cc}]*)"|([\p{L}\p{N}\p{M}_./:@%+,=^-]+)/uy;
  let word: string | undefined;
  while (token.lastIndex < command.length) {
    const found = token.exec(command);
    if (found === null) return undefined;
    const piece = found[1] ?? found[2] ?? found[3];
    if (piece === undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + piece;
    }
  }
  if (word !== undefined) words.push(word);
  const [first] = words;
  // A first word with `=` is an assignment to a shell, not a program.
  return first === undefined || first === '' || first.includes('=') ? undefined : words;
}
