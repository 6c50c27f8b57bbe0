import { createHash } from 'node:crypto';
import type { ToolCommand } from '../../core/tool-command.ts';
import { oneLine } from '../../lib/text/text.ts';
import { promptPrefix } from './prompts-and-resources.ts';
import type { McpDefinition } from './read-definition.ts';

/** How many characters Telegram allows in a command. */
const limit = 32;

/** The chat command of a prompt (X9). Undefined for tools. */
export function promptCommand(server: string, definition: McpDefinition): ToolCommand | undefined {
  if (!definition.name.startsWith(promptPrefix)) return undefined;
  const { properties = {}, required = [] } = definition.inputSchema as {
    properties?: Readonly<Record<string, unknown>>;
    required?: readonly string[];
  };
  const names = Object.keys(properties);
  const { name, title, description } = definition;
  return {
    name: commandName(server, name.slice(promptPrefix.length)),
    hint: names.map((one) => (required.includes(one) ? one : `[${one}]`)).join(' '),
    about: oneLine(description === '' ? (title ?? '') : description, 200),
    inputOf(text) {
      const input = readArguments(text, names);
      return required.every((one) => input[one] !== undefined) ? input : undefined;
    },
  };
}

/** `SERVER_PROMPT` in lower case. A name that is too long ends in six characters of a hash. */
function commandName(server: string, prompt: string): string {
  const name = `${server}_${prompt}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
  if (name.length <= limit) return name;
  const mark = createHash('sha256')
    .update(JSON.stringify([server, prompt]))
    .digest('hex')
    .slice(0, 6);
  return `${name.slice(0, limit - mark.length - 1)}_${mark}`;
}

/**
 * Reads the arguments of a prompt: `name=value` and `name="some words"` first, then words in the order of the arguments
 * that are left. The last of these gets all the rest.
 */
function readArguments(text: string, names: readonly string[]): Readonly<Record<string, string>> {
  const input: Record<string, string> = {};
  let rest = text.trim();
  for (;;) {
    const [whole = '', name = '', quoted, plain = ''] =
      /^([^\s="]+)=(?:"([^"]*)"|(\S+))(?:\s+|$)/.exec(rest) ?? [];
    if (whole === '' || !names.includes(name) || input[name] !== undefined) break;
    input[name] = quoted ?? plain;
    rest = rest.slice(whole.length);
  }
  const left = names.filter((name) => input[name] === undefined);
  for (const [at, name] of left.entries()) {
    const isLast = at === left.length - 1;
    const [whole = '', quoted, plain = ''] =
      (isLast ? /^()([^]+)$/ : /^(?:"([^"]*)"|(\S+))\s*/).exec(rest) ?? [];
    if (whole === '') break;
    input[name] = isLast ? plain.trim().replace(/^"([^"]*)"$/, '$1') : (quoted ?? plain);
    rest = rest.slice(whole.length);
  }
  return input;
}
