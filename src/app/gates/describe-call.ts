import { printable } from '../../skills/printable.ts';
import { codeBlock } from '../code-block.ts';

/** Name of the file that a long call is handed over in. */
export const wholeFile = 'what-is-asked.txt';

/** Characters of a field that `describeInShort` shows whole, and how much of a longer one. */
const shortField = { whole: 400, beginning: 200 };
/** Characters that fit every platform's message beside the question. */
const shortEnough = 2_500;

/**
 * A tool call as a person judges it (T8): every field of its input whole, with control, bidirectional and invisible
 * characters written out, so that nothing looks like what it is not.
 */
export function describeCall(tool: string, input: unknown, skill: string | undefined): string {
  return described(
    whoWants(tool, skill),
    fieldsOf(input).map(([name, value]) => `${code(name)}\n\n${codeBlock(shown(value))}`),
  );
}

/** The same as one message beside a file with all of it: how long fields are and how they begin, or of many fields only their names' number. */
export function describeInShort(tool: string, input: unknown, skill: string | undefined): string {
  const fields = fieldsOf(input).map(([name, value]) => {
    const text = shown(value);
    if (text.length <= shortField.whole) return `${code(name)}\n\n${codeBlock(text)}`;
    const beginning = codeBlock(text.slice(0, shortField.beginning).toWellFormed());
    return `${code(name)}: ${text.length} characters, whole in \`${wholeFile}\`. They begin:\n\n${beginning}`;
  });
  const text = described(whoWants(tool, skill), fields);
  if (text.length <= shortEnough) return text;
  return `${whoWants(tool, skill)} ${fields.length} fields, whole in \`${wholeFile}\`.`;
}

function described(who: string, fields: readonly string[]): string {
  return [who, ...fields].join('\n\n');
}

function whoWants(tool: string, skill: string | undefined): string {
  const who = skill === undefined ? 'The bot' : `The skill ${code(skill)}`;
  return `${who} wants to use ${code(tool)}:`;
}

function fieldsOf(input: unknown): readonly (readonly [string, unknown])[] {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? Object.entries(input as Readonly<Record<string, unknown>>)
    : [['input', input]];
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? '');
}

/** Whole, unlike `inlineCode`. */
function code(text: string): string {
  return `\`${printable(text).replaceAll('`', "'")}\``;
}
