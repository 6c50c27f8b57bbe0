import type yaml from 'yaml';
import type { FrontProblem } from './front-value.ts';

/** The first thing that is wrong with the YAML of a skill, in words for its author, and what to write instead. */
export function yamlProblem(
  { errors, warnings }: Pick<yaml.Document, 'errors' | 'warnings'>,
  text: string,
  lineAt: (offset: number) => number,
): FrontProblem | undefined {
  const [found] = [...errors, ...warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  if (found === undefined) return undefined;
  const line = lineAt(found.pos[0]);
  const written = text.split('\n')[line - 1] ?? '';
  const code = found.code === 'TAG_RESOLVE_FAILED' ? 'YAML_TAG' : 'YAML_ERROR';
  return { code, message: sentence(found, written), line };
}

/** In place of the parser's own words, which speak of YAML's grammar. */
function sentence({ code, message }: yaml.YAMLError, line: string): string {
  if (/^(?:<{7}|={7}|>{7})(?: |$)/.test(line))
    return `${JSON.stringify(line)} is left of a merge conflict: decide which lines stay and remove the markers`;
  const fault = `${code} ${message}`;
  const key = /^[ \t]*(?:- +)*([^\s:#"'[{][^:]*):(?:[ \t]|$)/.exec(line)?.[1];
  if (/compact mappings/.test(fault))
    return `${key ?? 'this'} has a value with ": " in it, which begins another key in YAML: put the whole value in quotes`;
  if (/^MULTILINE_IMPLICIT_KEY|followed by map values/.test(fault))
    return `${JSON.stringify(line.trim().slice(0, 60))} is no line of "key: value" (with a space after the colon): write one, or indent it if it belongs to the line above`;
  return (
    fixes.find(([form]) => form.test(fault))?.[1] ?? 'this is no YAML: if it is a text, put it in quotes'
  );
}

const fixes: readonly (readonly [RegExp, string])[] = [
  [
    /same column|block sequence may not/,
    'lines of one list or map begin in the same column: indent this one like the others',
  ],
  [/^NON_STRING_KEY/, 'a list or map stands where a key belongs: write "key: value" there'],
  [
    /^BAD_INDENT Flow/,
    '[ or { is not closed, or a line within it is not indented: close it by ] or }, or put the value in quotes if it is a text',
  ],
  [/^BAD_SCALAR_START/, 'a value cannot begin with this character: put the whole value in quotes'],
  [
    /^BAD_DQ_ESCAPE/,
    `a backslash in "…" begins an escape, and YAML does not know this one: write \\\\ for a backslash, or use '…'`,
  ],
  [/closing .quote/, 'a quote is opened and never closed: add the closing one'],
  [/^TAB_AS_INDENT/, 'a tab indents this line: use spaces'],
  [/^DUPLICATE_KEY/, 'this key is given twice: remove one'],
  [/^TAG_RESOLVE_FAILED/, 'a value cannot begin with "!", which begins a tag: put it in quotes'],
  [
    /on same line with key/,
    'a list begins on the line below its key: move it there, or put the value in quotes if it is a text',
  ],
  [
    /[Bb]lock scalar|Not a YAML token/,
    'after | or > the text begins on the next line, indented: move it there',
  ],
  [
    / in flow |between flow|flow-(?:map|seq)-end/,
    'a list in [ ] or a map in { } has a comma or bracket too many: correct it, or put the value in quotes if it is a text',
  ],
  [
    /at node end/,
    `something follows the end of the value: put the whole value in quotes, and write ' as '' within '…'`,
  ],
  [/ALIAS|ANCHOR/i, '& and * have a meaning of their own in YAML: put the value in quotes'],
];
