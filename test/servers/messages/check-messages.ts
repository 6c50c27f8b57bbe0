import type { MessagesRequest, RequestBlock } from './request-shape.ts';

type Said = Readonly<{ role: 'user' | 'assistant'; content: readonly RequestBlock[] }>;

/**
 * What the API refuses beyond the shape: roles that don't alternate, unpaired tool calls, empty texts, too many
 * breakpoints. Nothing when the request is good. Signatures are checked elsewhere.
 */
export function checkMessages(request: MessagesRequest): string | undefined {
  const said = request.messages.map(({ role, content }): Said => ({ role, content: asBlocks(content) }));
  const names = (request.tools ?? []).map(({ name }) => name);
  if (new Set(names).size < names.length) return 'tools: Tool names must be unique.';
  return (
    wrongRoles(said) ??
    wrongTexts(request, said) ??
    wrongPairs(said) ??
    wrongThinking(said) ??
    wrongBreakpoints(request, said)
  );
}

function asBlocks(content: string | readonly RequestBlock[]): readonly RequestBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function wrongRoles(said: readonly Said[]): string | undefined {
  if (said.length === 0) return 'messages: at least one message is required';
  if (said[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  const twice = said.find(({ role }, index) => said[index - 1]?.role === role);
  if (twice !== undefined) {
    return `messages: roles must alternate between "user" and "assistant", but found multiple "${twice.role}" roles in a row`;
  }
  const last = said.at(-1);
  const paused = last?.content.some(({ type }) => type === 'server_tool_use') ?? false;
  if (last?.role === 'assistant' && !paused) {
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  }
  return undefined;
}

function wrongTexts(request: MessagesRequest, said: readonly Said[]): string | undefined {
  if (Array.isArray(request.system) && request.system.some(({ text }) => text === '')) {
    return 'system: text content blocks must be non-empty';
  }
  for (const [index, { role, content }] of said.entries()) {
    if (content.length === 0) {
      return `messages.${index}: all messages must have non-empty content except for the optional final assistant message`;
    }
    for (const [at, block] of content.entries()) {
      if (block.type === 'document' && role === 'assistant') {
        return `messages.${index}.content.${at}: \`document\` blocks are not permitted in assistant messages`;
      }
      if (block.type !== 'text') continue;
      if (block.text === '') return 'messages: text content blocks must be non-empty';
      if (block.text.trim() === '') return 'messages: text content blocks must contain non-whitespace text';
      if (role === 'user' && block.citations)
        return `messages.${index}.content.${at}.text.citations: Extra inputs are not permitted`;
    }
  }
  return undefined;
}

function wrongPairs(said: readonly Said[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, { role, content }] of said.entries()) {
    const before = said[index - 1];
    const asked = new Set(before === undefined ? [] : idsOf(before));
    for (const [at, block] of content.entries()) {
      const where = `messages.${index}.content.${at}`;
      if (block.type === 'tool_use') {
        if (role !== 'assistant')
          return `${where}: \`tool_use\` blocks can only be in \`assistant\` messages`;
        if (seen.has(block.id)) return `${where}: \`tool_use\` ids must be unique`;
        seen.add(block.id);
      }
      if (block.type !== 'tool_result') continue;
      if (role !== 'user') return `${where}: \`tool_result\` blocks can only be in \`user\` messages`;
      if (!asked.has(block.tool_use_id)) {
        return `${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
      }
      if (content.slice(0, at).some(({ type }) => type !== 'tool_result')) {
        return `${where}: \`tool_result\` blocks must come first in the content of a message`;
      }
      asked.delete(block.tool_use_id);
    }
    if (asked.size > 0) return unanswered(index - 1, [...asked]);
  }
  const last = said.at(-1);
  const open = last === undefined ? [] : idsOf(last);
  return open.length > 0 ? unanswered(said.length - 1, open) : undefined;
}

function idsOf({ content }: Said): readonly string[] {
  return content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}

function unanswered(index: number, ids: readonly string[]): string {
  return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

function wrongThinking(said: readonly Said[]): string | undefined {
  for (const [index, { role, content }] of said.entries()) {
    if (role === 'assistant' && content.at(-1)?.type === 'thinking') {
      return `messages.${index}: The final block in an assistant message cannot be \`thinking\`.`;
    }
  }
  return undefined;
}

function wrongBreakpoints(request: MessagesRequest, said: readonly Said[]): string | undefined {
  const system = Array.isArray(request.system) ? request.system : [];
  const marked = [...(request.tools ?? []), ...system, ...said.flatMap(({ content }) => content)].filter(
    (block) => 'cache_control' in block && block.cache_control,
  );
  if (marked.length > 4)
    return `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`;
  const hours = marked.map((block) => 'cache_control' in block && block.cache_control?.ttl === '1h');
  return hours.lastIndexOf(true) > hours.indexOf(false) && hours.includes(false)
    ? "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    : undefined;
}
