import type { TomlError } from 'smol-toml';
import type { ConfigProblem } from './config-problem.ts';

const fixes: readonly (readonly [RegExp, string])[] = [
  [/excessively nested/, 'lists and tables are nested too deeply: write fewer brackets'],
  [/unsafe property/, 'the names __proto__ and constructor cannot be used here: choose another'],
  [/redefine|already defined/, 'this key or table is there twice: keep one of them'],
  [
    /unfinished string|control characters are not allowed in strings/,
    'a text is not closed on its line: add the closing quote',
  ],
  [/escape/, 'a backslash in "…" begins an escape: write \\\\ or use single quotes'],
  [
    /unfinished (array|table)|expected comma/,
    'a list or table is not closed, or a comma is missing: mend it',
  ],
  [/end of table array/, 'a list of tables begins with [[NAME]]: add the missing bracket'],
  [/followed by an end-of-line/, 'one line holds one key: put what follows on a line of its own'],
  [
    /key/,
    'write KEY = VALUE, or [NAME] with its closing bracket; a key of other characters than A-Z, a-z, 0-9, _ and - stands in quotes',
  ],
  [/represented losslessly/, 'the number is too long: write it in quotes'],
  [/date|value|numeric|zero|underscore/, 'write text in quotes; only numbers, true and false stand without'],
];

/** The place and the fix of a text that is no TOML. The parser's own message quotes the lines around it: it is not used. */
export function describeSyntaxError(error: TomlError): ConfigProblem {
  const [first = ''] = error.message.split('\n');
  const fix = fixes.find(([pattern]) => pattern.test(first))?.[1] ?? 'mend it as https://toml.io says';
  return {
    line: error.line,
    column: error.column,
    message: `The file cannot be read as TOML from here: ${fix}.`,
  };
}
