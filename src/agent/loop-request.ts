import type Anthropic from '@anthropic-ai/sdk';
import type { Effort } from '../core/claude-models.ts';
import type { Entry } from '../core/entry.ts';
import type { ModelRequest } from '../core/model.ts';
import type { ToolSpec } from '../core/tool.ts';
import type { Viewer } from './show-to.ts';
import { toMessages } from './to-messages.ts';
import type { Deferred } from './tool-search.ts';

/** The tools of one request, and which of them are found by a search. */
export type Offer = Readonly<{ tools: readonly ToolSpec[]; isDeferred?: Deferred; toolChoice?: 'none' }>;

/** What all requests of a loop have in common. */
type Prompt = Readonly<{
  system: readonly Anthropic.TextBlockParam[];
  audience?: string;
  viewers?: Readonly<{ requester: Viewer }>;
  effort?: Effort | undefined;
}>;

/** The request that a loop makes of its entries and the tools that it offers now. */
export function requestOf(
  entries: readonly Entry[],
  { system, audience, viewers, effort }: Prompt,
  { tools, isDeferred, ...choice }: Offer,
): ModelRequest {
  return {
    system,
    messages: toMessages(entries, { viewer: viewers?.requester }),
    tools: tools
      .filter((tool) => !isByModel(tool))
      .map((tool) => toApiTool(tool, isDeferred?.(tool) === true)),
    searchesWeb: tools.some(isByModel),
    audience,
    effort,
    ...choice,
  };
}

const isByModel = ({ byModel }: ToolSpec): boolean => byModel === true;

/** The same object is returned each time, so that what was computed from it can be reused. */
const apiTools = new WeakMap<ToolSpec['inputSchema'], Anthropic.Tool>();

function toApiTool({ name, description, inputSchema }: ToolSpec, deferred: boolean): Anthropic.Tool {
  const known = apiTools.get(inputSchema);
  const isKnown = known?.name === name && known.description === description;
  if (isKnown && (known.defer_loading === true) === deferred) return known;
  const plain: Anthropic.Tool = { name, description, input_schema: { ...inputSchema, type: 'object' } };
  const tool = deferred ? { ...plain, defer_loading: true } : plain;
  apiTools.set(inputSchema, tool);
  return tool;
}
