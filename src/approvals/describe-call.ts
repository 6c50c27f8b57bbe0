import { printable } from '../lib/text/printable.ts';
import { codeBlock } from '../lib/text/code-block.ts';
import type { Say } from '../core/texts/say.ts';

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
export function describeCall(tool: string, input: unknown, skill: string | undefined, say: Say): string {
  return `${whoWants(tool, skill, say)}\n\n${describeInput(input)}`;
}

/** The same without the tool's name. */
export function describeInput(input: unknown): string {
  return fieldsOf(input)
    .map(([name, value]) => `${code(name)}\n\n${codeBlock(shown(value))}`)
    .join('\n\n');
}

/** The same as one message beside a file with all of it. */
export function describeInShort(tool: string, input: unknown, skill: string | undefined, say: Say): string {
  return `${whoWants(tool, skill, say)}\n\n${describeInputInShort(input, say)}`;
}

/** How long fields are and how they begin, or of many fields only their number. */
export function describeInputInShort(input: unknown, say: Say): string {
  const fields = fieldsOf(input).map(([name, value]) => {
    const text = shown(value);
    if (text.length <= shortField.whole) return `${code(name)}\n\n${codeBlock(text)}`;
    const beginning = codeBlock(text.slice(0, shortField.beginning).toWellFormed());
    const how = say`${code(name)}: ${text.length} characters, whole in ${code(wholeFile)}. They begin:`;
    return `${how}\n\n${beginning}`;
  });
  const text = fields.join('\n\n');
  return text.length <= shortEnough ? text : say`${fields.length} fields, whole in ${code(wholeFile)}.`;
}

function whoWants(tool: string, skill: string | undefined, say: Say): string {
  return skill === undefined
    ? say`I want to use ${code(tool)}:`
    : say`The skill ${code(skill)} wants to use ${code(tool)}:`;
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
