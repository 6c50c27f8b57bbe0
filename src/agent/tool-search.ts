import type Anthropic from '@anthropic-ai/sdk';
import type { CallTool } from '../core/tool-call.ts';
import { readOnly, type ToolSpec } from '../core/tool.ts';
import { oneLine } from '../lib/text/text.ts';

/** Name of the bot's own search among tools. */
export const toolSearchName = 'tools_search';

/** With more tools, or more characters of schemas and descriptions, those from outside are found by a search (M20). */
const most = { tools: 40, characters: 8_000 };
/** How many tools one search finds. */
const mostFound = 5;

const searchTool: ToolSpec = {
  name: toolSearchName,
  description:
    'Finds tools by words. There are more tools here than you are shown, such as those of connected services. Search before you say that something is not possible; you can call what was found from your next step on.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'A few words, in English: what the tool does, with what.' },
    },
    required: ['query'],
    additionalProperties: false,
  },
  traits: readOnly,
};

/** Whether a tool is sent only once it was found: one from outside of the bot, if there are many. */
export type Deferred = (tool: ToolSpec) => boolean;

/** The tools with the search, if there are so many that some are to be found by it. */
export function withToolSearch(tools: readonly ToolSpec[]): Readonly<{
  tools: readonly ToolSpec[];
  isDeferred: Deferred;
}> {
  const characters = tools.reduce((sum, tool) => sum + sizeOf(tool), 0);
  const isOver = tools.length > most.tools || characters > most.characters;
  const isDeferred: Deferred = (tool) => isOver && tool.row === undefined && tool !== searchTool;
  return { tools: tools.some(isDeferred) ? [...tools, searchTool] : tools, isDeferred };
}

/** Sizes are kept because the tools are looked at before each step. */
const sizes = new WeakMap<ToolSpec['inputSchema'], number>();

function sizeOf({ name, description, inputSchema }: ToolSpec): number {
  const known = sizes.get(inputSchema) ?? JSON.stringify(inputSchema).length;
  sizes.set(inputSchema, known);
  return known + name.length + description.length;
}

/** Answers calls of the search from the tools that may be used now. It has no effect, so it passes no policy. */
export function answerToolSearch(callTool: CallTool, tools: () => readonly ToolSpec[]): CallTool {
  return async (call, signal, begin) => {
    const offered = withToolSearch(tools());
    if (call.name !== toolSearchName || !offered.tools.includes(searchTool))
      return callTool(call, signal, begin);
    await begin?.();
    const { query } = call.input as Readonly<{ query?: unknown }>;
    if (typeof query !== 'string' || query.trim() === '')
      return { content: 'error ARGUMENTS_INVALID: query is missing: write a few words.', isError: true };
    const found = searchTools(offered.tools.filter(offered.isDeferred), query);
    if (found.length === 0)
      return { content: 'No tool was found. Try other or fewer words.', isError: false };
    const listed = found.map(({ name, description }) => `- ${name}: ${oneLine(description, 200)}`);
    return { content: `You can call these tools now:\n${listed.join('\n')}`, isError: false };
  };
}

/**
 * The tools with the most words of the query, each in a name counting three times one in a description or schema. Tools
 * that lack the query's rarest word that any tool has are left out: a common word alone says little.
 */
export function searchTools(tools: readonly ToolSpec[], query: string): readonly ToolSpec[] {
  const terms = [...new Set(wordsOf(query))];
  const known = tools.map((tool) => ({
    tool,
    name: new Set(wordsOf(tool.name)),
    all: new Set(wordsOf(`${tool.name} ${tool.description} ${JSON.stringify(tool.inputSchema)}`)),
  }));
  const weights = new Map(
    terms.map((term) => {
      const holders = known.filter(({ all }) => all.has(term)).length;
      return [term, holders === 0 ? 0 : Math.log(1 + known.length / holders)];
    }),
  );
  const rarest = Math.max(...weights.values(), 0);
  return known
    .map(({ tool, name, all }) => {
      const matched = terms.filter((term) => all.has(term));
      const points = matched.reduce(
        (sum, term) => sum + (weights.get(term) ?? 0) * (name.has(term) ? 3 : 1),
        0,
      );
      return { tool, points, rare: matched.some((term) => weights.get(term) === rarest) };
    })
    .filter(({ points, rare }) => points > 0 && rare)
    .toSorted((a, b) => b.points - a.points)
    .slice(0, mostFound)
    .map(({ tool }) => tool);
}

/** Words in lower case, also those of names such as `listIssues` and `list_issues`, without a plural s. */
function wordsOf(text: string): readonly string[] {
  const split = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return split.split(/[^\p{L}\p{N}]+/u).flatMap((word) => {
    const stem = word.length > 3 ? word.replace(/s$/, '') : word;
    return [...stem].length < 2 ? [] : [stem];
  });
}

/** How a model is shown tools that are found by a search: by its own search, by the bot's, or all of them at once. */
export type ToolSearch = 'model' | 'own' | 'off';

/** The model's own search. It is never deferred, so that it can be the end of what is cached. */
const modelSearch = {
  type: 'tool_search_tool_bm25_20251119',
  name: 'tool_search_tool_bm25',
} as const satisfies Anthropic.ToolUnion;

/** The tools of a request as its model is sent them. */
export function sentTools(
  {
    tools,
    messages,
  }: Readonly<{ tools: readonly Anthropic.Tool[]; messages: readonly Anthropic.MessageParam[] }>,
  search: ToolSearch,
): readonly Anthropic.ToolUnion[] {
  if (!tools.some(isDeferredTool)) return tools;
  const others = tools.filter(({ name }) => name !== toolSearchName);
  if (search === 'model') return [...others, modelSearch];
  const found = search === 'own' ? foundIn(messages) : undefined;
  const sent = others.filter((tool) => !isDeferredTool(tool) || found?.has(tool.name) !== false);
  const plain = sent.map(({ defer_loading: _, ...tool }) => tool);
  return search === 'own' ? [...plain, ...tools.filter(({ name }) => name === toolSearchName)] : plain;
}

export function isDeferredTool(tool: Anthropic.Tool): boolean {
  return tool.defer_loading === true;
}

/** Names that a search found, and those of calls, as far as the messages go back. */
function foundIn(messages: readonly Anthropic.MessageParam[]): ReadonlySet<string> {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const calls = blocks.filter((block) => block.type === 'tool_use');
  const searches = new Set(calls.flatMap(({ id, name }) => (name === toolSearchName ? [id] : [])));
  const listed = blocks.flatMap((block) => {
    if (block.type !== 'tool_result' || !searches.has(block.tool_use_id)) return [];
    const text = typeof block.content === 'string' ? block.content : '';
    return [...text.matchAll(/^- ([\w-]+): /gm)].map(([, name = '']) => name);
  });
  return new Set([...listed, ...calls.map(({ name }) => name)]);
}
