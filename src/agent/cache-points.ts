import type Anthropic from '@anthropic-ai/sdk';
import type { ModelRequest } from '../core/model.ts';

const mark = { type: 'ephemeral' } as const;

/**
 * The request with its prompt-cache breakpoints (M5), four at most: after the tools, after the first system block (the
 * stable part), and at the end of the last two user messages, so that the previous request's prefix is found
 * again however many blocks came since.
 */
export function withCachePoints({
  system,
  messages,
  tools,
}: Pick<ModelRequest, 'system' | 'messages' | 'tools'>): Pick<ModelRequest, 'system' | 'messages' | 'tools'> {
  const ends = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : [])).slice(-2);
  return {
    tools: tools.map((tool, index) => (index === tools.length - 1 ? { ...tool, cache_control: mark } : tool)),
    system: system.map((block, index) => (index === 0 ? { ...block, cache_control: mark } : block)),
    messages: messages.map((message, index) =>
      message.role === 'user' && ends.includes(index)
        ? { ...message, content: markLast(asBlocks(message.content)) }
        : message,
    ),
  };
}

function markLast(content: readonly Anthropic.ContentBlockParam[]): Anthropic.ContentBlockParam[] {
  return content.map((block, index) =>
    index === content.length - 1 && block.type !== 'thinking' && block.type !== 'redacted_thinking'
      ? { ...block, cache_control: mark }
      : block,
  );
}

function asBlocks(
  content: string | readonly Anthropic.ContentBlockParam[],
): readonly Anthropic.ContentBlockParam[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
