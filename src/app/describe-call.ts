import { printable } from '../skills/printable.ts';
import { codeBlock } from './code-block.ts';

/**
 * A tool call as a person judges it (T8): every field of its input whole, with control, bidirectional and invisible
 * characters written out, so that nothing looks like what it is not.
 */
export function describeCall(tool: string, input: unknown, skill: string | undefined): string {
  const who = skill === undefined ? 'The bot' : `The skill ${code(skill)}`;
  const fields =
    typeof input === 'object' && input !== null && !Array.isArray(input)
      ? Object.entries(input as Readonly<Record<string, unknown>>)
      : [['input', input] as const];
  return [
    `${who} wants to use ${code(tool)}:`,
    ...fields.map(([name, value]) => `${code(name)}\n\n${codeBlock(shown(value))}`),
  ].join('\n\n');
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? '');
}

/** Whole, unlike `inlineCode`. */
function code(text: string): string {
  return `\`${printable(text).replaceAll('`', "'")}\``;
}
