import type { MessagesRequest, RequestBlock } from './request-shape.ts';

/** What the API refuses of its own tools: the search among tools, and what the messages say of it. */
export function checkServerTools(request: MessagesRequest): string | undefined {
  const { tools = [] } = request;
  return wrongTools(request) ?? wrongBlocks(request, new Set(tools.map(({ name }) => name)));
}

function wrongTools({ model, tools = [] }: MessagesRequest): string | undefined {
  const search = tools.find(({ name }) => name === 'tool_search_tool_bm25');
  if (search !== undefined && !hasToolSearch(model))
    return `'${model}' does not support tool types: tool_search_tool_bm25_20251119`;
  const web = tools.find((tool) => 'type' in tool && tool.type === 'web_search_20260318');
  if (web !== undefined && versionOf(model) < 46)
    return `'${model}' does not support tool types: web_search_20260318`;
  if (tools.length > 0 && tools.every(({ defer_loading }) => defer_loading === true))
    return 'At least one tool must have defer_loading=false.';
  const marked = tools.find((tool) => tool.defer_loading === true && tool.cache_control);
  return marked === undefined
    ? undefined
    : `Tool '${marked.name}' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.`;
}

function hasToolSearch(model: string): boolean {
  const version = versionOf(model);
  return version >= 50 || (version >= 45 && !model.includes('haiku'));
}

/** Of `claude-sonnet-4-6` 46. */
function versionOf(model: string): number {
  const [, major = '0', minor = '0'] = /claude-\w+-(\d)-(\d)/.exec(model) ?? [];
  return Number(major) * 10 + Number(minor);
}

function wrongBlocks({ messages }: MessagesRequest, names: ReadonlySet<string>): string | undefined {
  for (const [index, { content }] of messages.entries()) {
    const blocks: readonly RequestBlock[] = typeof content === 'string' ? [] : content;
    const isLast = index === messages.length - 1;
    for (const [at, block] of blocks.entries()) {
      const where = `messages.${index}.content.${at}`;
      if (block.type === 'server_tool_use') {
        const result = blocks.find((one) => 'tool_use_id' in one && one.tool_use_id === block.id);
        if (result === undefined && !isLast)
          return `${where}: \`${block.name}\` tool use with id \`${block.id}\` was found without a corresponding \`${block.name}_tool_result\` block`;
        if (!names.has(block.name) && !isLast) return `${where}: tool '${block.name}' is not in tools`;
      }
      if (block.type !== 'tool_search_tool_result' && block.type !== 'web_search_tool_result') continue;
      if (!blocks.slice(0, at).some((one) => one.type === 'server_tool_use' && one.id === block.tool_use_id))
        return `${where}: unexpected \`tool_use_id\` found in \`${block.type}\` blocks: ${block.tool_use_id}`;
      if (!('type' in block.content) || block.content.type !== 'tool_search_tool_search_result') continue;
      const unknown = block.content.tool_references.find(({ tool_name }) => !names.has(tool_name));
      if (unknown !== undefined) return `Tool reference '${unknown.tool_name}' not found in available tools`;
    }
  }
  return undefined;
}
