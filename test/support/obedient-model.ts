import type { WholeBotOptions } from './whole-bot.ts';

/**
 * A model that calls what a person dictates, `DO remember {"text": "tea"}`, and repeats what came of it. It says so
 * where it was not offered that tool.
 */
export const obedient = ((body, index) => {
  const content = body.messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result' ? [JSON.stringify((block as { content?: unknown }).content)] : [],
  );
  if (results.length > 0) return `Result: ${results.join(' ')}`;
  const said = blocks.map((block) => ('text' in block ? String(block.text) : '')).join('\n');
  const [, name = '', input = ''] = /^DO (\w+) (\{.*\})$/m.exec(said) ?? [];
  if (name === '') return 'Hello.';
  if (body.tools?.some((tool) => tool.name === name) !== true) return `Not offered: ${name}`;
  return { content: [{ type: 'tool_use', id: `toolu_${index}`, name, input: JSON.parse(input) as object }] };
}) satisfies WholeBotOptions['script'];

/** The same, also in a run, and the main agent repeats what came of the run. */
export const obedientInRuns: typeof obedient = (body, index) => {
  const came = /<output>\\n(.*?)\\n<\/output>/s.exec(JSON.stringify(body.messages.at(-1)))?.[1];
  return came === undefined ? obedient(body, index) : `Result of the run: ${came}`;
};

/** A skill for it: a run does what it is told. */
export const obedientSkill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo what you are told:\n$ARGUMENTS\n`;
