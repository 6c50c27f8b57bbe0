import type Anthropic from '@anthropic-ai/sdk';
import type { ModelRequest } from '../../core/model.ts';

type Cacheable = Pick<ModelRequest, 'system' | 'messages' | 'tools'>;

const mark = { type: 'ephemeral' } as const;

/** Blocks before a breakpoint within which the API finds a prefix that it knows. */
const lookback = 20;

/**
 * The request with its prompt-cache breakpoints (M5), four at most: after the first system block (the stable part, tools
 * before it), and at the end of three user messages. The last two find the previous request of the same turn, however many
 * calls it made. The third finds the last request for the same people behind turns of others: `known` is a message that
 * stood in it, otherwise it is as far back as leaves no gap.
 */
export function withCachePoints({ system, messages, tools }: Cacheable, known?: number): Cacheable {
  const users = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  const ends = [...users.slice(-2), ...thirdEnd(messages, users.slice(0, -1), known)];
  return {
    tools: system.length > 0 ? tools : markLast(tools),
    system: system.map((block, index) => (index === 0 ? { ...block, cache_control: mark } : block)),
    messages: messages.map((message, index) =>
      message.role === 'user' && ends.includes(index)
        ? { ...message, content: markLast(asBlocks(message.content)) }
        : message,
    ),
  };
}

/** `users`: indexes of user messages, up to the one before the last. */
function thirdEnd(
  messages: readonly Anthropic.MessageParam[],
  users: readonly number[],
  known: number | undefined,
): readonly number[] {
  const second = users.at(-1);
  if (second === undefined) return [];
  const before = users.slice(0, -1);
  if (known !== undefined && known < second) return before.filter((index) => index <= known).slice(-1);
  let blocks = 0;
  const near = before.toReversed().filter((index, at, reversed) => {
    for (let next = index + 1; next <= (reversed[at - 1] ?? second); next++)
      blocks += asBlocks(messages[next]?.content ?? []).length;
    return blocks <= lookback;
  });
  return near.slice(-1);
}

function markLast<Block extends object>(content: readonly Block[]): Block[] {
  return content.map((block, index) =>
    index === content.length - 1 ? { ...block, cache_control: mark } : block,
  );
}

function asBlocks(
  content: string | readonly Anthropic.ContentBlockParam[],
): readonly Anthropic.ContentBlockParam[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
