import assert from 'node:assert/strict';
import { listedTool } from '../servers/mcp/tool-files.ts';
import type { WholeBotOptions } from './whole-bot.ts';

/** A tool that asks, and needs no approval where its server is trusted. It is not to be repeated after a crash. */
export const askTool = listedTool('ask', { annotations: { destructiveHint: false } });

type Script = Extract<NonNullable<WholeBotOptions['script']>, (...of: never) => unknown>;

/** The config of a bot whose owner may use a trusted server `shop` at this address. */
export function toml(url: string, more = ''): string {
  return `[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nowner = ["telegram:42"]\nshutdown_seconds = 1\n${shopToml(url)}${more}`;
}

/** The section of that server, for the person with the id 42. */
export function shopToml(url: string): string {
  return `[mcp.shop]\nurl = "${url}"\ntrusted = true\nusers = ["telegram:42"]\n`;
}

/** A model that calls one tool when it is told to order, and says what came of it. */
export function asker(name: string): Script {
  return ({ messages }) => {
    const last = JSON.stringify(messages.at(-1));
    if (last.includes('tool_result')) return `It says: ${last.replaceAll('\\', '')}`;
    return last.includes('order')
      ? { content: [{ type: 'tool_use', id: `toolu_${messages.length}`, name, input: {} }] }
      : 'Hello.';
  };
}

/** A request for a form, as a server sends it. */
export function formOf(message: string, properties: object, required: readonly string[] = []): object {
  return {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: { type: 'object', properties, required } },
  };
}

export function choice(...values: readonly string[]): object {
  return { type: 'string', enum: values };
}

/** The code of a question. */
export function codeOf(text: string): string {
  return /\bno ([2-9A-HJKMNP-Z]{8})\b/.exec(text)?.[1] ?? assert.fail(`no code in ${text}`);
}

export function answerForm(
  person: Readonly<{ says(text: string): unknown }>,
  question: string,
  words: string,
): void {
  person.says(`${codeOf(question)} ${words}`);
}
