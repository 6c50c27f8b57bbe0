import type Anthropic from '@anthropic-ai/sdk';
import type { WebSearchType } from '../../core/claude-models.ts';
import { labelled } from '../../lib/text/escape-labels.ts';
import { isServerTool } from '../fit-history.ts';

type Block = Anthropic.ContentBlockParam;
/** A call of a server's own tool, or its result, with the server that made it. */
export type OwnBlock = Block & Readonly<{ server?: string }>;

/** How often the model may search for one answer. */
const mostSearches = 5;

/** The search of the model's server. Newer types could run code on the results, which is not wanted here. */
export function serverSearch(type: WebSearchType): Anthropic.ToolUnion {
  const tool = { type, name: 'web_search', max_uses: mostSearches } as const;
  return type === 'web_search_20250305' ? tool : { ...tool, type, allowed_callers: ['direct'] };
}

/**
 * The messages with what a server did itself, such as a search, only for that server and while its tool is offered. All
 * others refuse it (M18). Without results, citations are left out, too. Found tools that are not offered any more are
 * not named (M20).
 */
export function withOwnBlocks(
  messages: readonly Anthropic.MessageParam[],
  tools: readonly Anthropic.ToolUnion[],
  server: string,
): readonly Anthropic.MessageParam[] {
  const names = new Set(tools.map((tool): string => ('name' in tool ? tool.name : '')));
  const fitted = messages.map((message, index): Anthropic.MessageParam => {
    const { role, content } = message;
    if (role !== 'assistant' || typeof content === 'string' || !content.some(isOfServer)) return message;
    // What a paused answer ends with is sent back as it is.
    const isPaused = index === messages.length - 1;
    const kept = keptCalls(content, (name) => isPaused || names.has(name), server);
    const blocks = content.flatMap((block): readonly Block[] => {
      if (!isServerTool(block)) return kept.size > 0 || isPaused ? [block] : [withoutCitations(block)];
      return kept.has(callOf(block)) ? [knownTools(unmarked(block), names)] : [];
    });
    return { role, content: blocks };
  });
  return continued(fitted, messages);
}

/** A paused answer that goes to another server becomes one that a person asks to continue. */
function continued(
  fitted: readonly Anthropic.MessageParam[],
  before: readonly Anthropic.MessageParam[],
): readonly Anthropic.MessageParam[] {
  const [last, given] = [fitted.at(-1), before.at(-1)];
  if (last === given || last?.role !== 'assistant' || asBlocks(last).some(isServerTool)) return fitted;
  const goOn: Block = { type: 'text', text: labelled('host', 'Go on where your answer stopped.') };
  if (asBlocks(last).length > 0) return [...fitted, { role: 'user', content: [goOn] }];
  const rest = fitted.slice(0, -1);
  const asked = rest.at(-1);
  if (asked === undefined) return [{ role: 'user', content: [goOn] }];
  return [...rest.slice(0, -1), { role: 'user', content: [...asBlocks(asked), goOn] }];
}

function asBlocks({ content }: Anthropic.MessageParam): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function isOfServer(block: Block): boolean {
  return isServerTool(block) || (block.type === 'text' && (block.citations ?? []).length > 0);
}

/** Ids of calls that stay, with their results. The call that a pause ends with has none. */
function keptCalls(
  blocks: readonly OwnBlock[],
  isOffered: (name: string) => boolean,
  server: string,
): ReadonlySet<string> {
  const answered = new Set(blocks.flatMap((block) => ('tool_use_id' in block ? [block.tool_use_id] : [])));
  const last = blocks.findLast(isServerTool);
  return new Set(
    blocks.flatMap((block) => {
      if (block.type !== 'server_tool_use' || block.server !== server || !isOffered(block.name)) return [];
      return answered.has(block.id) || block === last ? [block.id] : [];
    }),
  );
}

function callOf(block: Block): string {
  if ('tool_use_id' in block) return block.tool_use_id;
  return block.type === 'server_tool_use' ? block.id : '';
}

function unmarked({ server: _, ...block }: OwnBlock): Block {
  return block;
}

function withoutCitations(block: Block): Block {
  return block.type === 'text' && block.citations ? { ...block, citations: null } : block;
}

function knownTools(block: Block, names: ReadonlySet<string>): Block {
  if (block.type !== 'tool_search_tool_result' || block.content.type !== 'tool_search_tool_search_result')
    return block;
  const known = block.content.tool_references.filter(({ tool_name }) => names.has(tool_name));
  return { ...block, content: { ...block.content, tool_references: known } };
}
