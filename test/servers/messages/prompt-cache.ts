import { createHash } from 'node:crypto';
import type { MessagesRequest } from './request-shape.ts';

/** Input tokens as the API counts them: their sum is the whole prompt. */
export type CacheUsage = Readonly<{
  input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
  cache_creation?: Readonly<{ ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number }>;
}>;

const lookback = 20;

/**
 * The API's prompt cache: prefixes in the order tools, system, messages, equal byte by byte; found at a breakpoint or up
 * to 20 blocks before it; nothing under the minimum. Another `tool_choice` or `thinking` is another prefix for messages. A
 * token is four bytes here.
 */
export function createPromptCache(
  options: Readonly<{ minTokens: number; now(): number }>,
): Readonly<{ count(request: MessagesRequest): CacheUsage }> {
  /** Until when a prefix is kept. A read keeps it as long again. */
  const known = new Map<string, Readonly<{ until: number; ms: number }>>();
  return {
    count(request) {
      const prefixes = prefixesOf(request);
      const total = prefixes.at(-1)?.tokens ?? 0;
      const points = prefixes.flatMap(({ marked }, index) => (marked ? [index] : []));
      const found = points
        .flatMap((point) => prefixes.slice(Math.max(0, point - lookback), point + 1))
        .filter(({ hash }) => (known.get(hash)?.until ?? 0) > options.now());
      const read = Math.max(0, ...found.map(({ tokens }) => tokens));
      const written = points.map((point) => prefixes[point]).filter((prefix) => prefix !== undefined);
      const storable = written.filter(({ tokens }) => tokens >= options.minTokens);
      for (const { hash, hour } of storable) {
        const ms = Math.max(hour ? hourMs : shortMs, known.get(hash)?.ms ?? 0);
        known.set(hash, { until: options.now() + ms, ms });
      }
      const stored = Math.max(read, ...storable.map(({ tokens }) => tokens));
      const hourEnd = Math.max(read, ...storable.flatMap(({ hour, tokens }) => (hour ? [tokens] : [])));
      return {
        input_tokens: total - stored,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: stored - read,
        cache_creation: {
          ephemeral_1h_input_tokens: hourEnd - read,
          ephemeral_5m_input_tokens: stored - hourEnd,
        },
      };
    },
  };
}

const shortMs = 5 * 60_000;
const hourMs = 60 * 60_000;

/** Tools that are found by a search are not in the prefix. */
function loaded(tools: MessagesRequest['tools'] = []): readonly object[] {
  return tools.filter(({ defer_loading }) => defer_loading !== true);
}

/** The result of a search, with the schemas of the tools that it loads. */
function withSchemas(block: object, tools: MessagesRequest['tools'] = []): object {
  const named = JSON.stringify(block).matchAll(/"tool_name":"([^"]+)"/g);
  const found = [...named].map(([, name]) => tools.find((tool) => tool.name === name));
  return found.length === 0 ? block : { ...block, found };
}

type Prefix = Readonly<{ hash: string; tokens: number; marked: boolean; hour: boolean }>;

function prefixesOf(request: MessagesRequest): readonly Prefix[] {
  const { model, tools, system, messages, tool_choice: choice, thinking } = request;
  const systemBlocks = typeof system === 'string' ? [{ type: 'text', text: system }] : (system ?? []);
  const blocks: readonly (readonly [string, object])[] = [
    ...loaded(tools).map((tool) => ['tool', tool] as const),
    ...systemBlocks.map((block) => ['system', block] as const),
    ...messages.flatMap(({ role, content }) =>
      (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map(
        (block) => [role, withSchemas(block, tools)] as const,
      ),
    ),
  ];
  const hash = createHash('sha256').update(model);
  const prefixes: Prefix[] = [];
  let bytes = 0;
  for (const [kind, block] of blocks) {
    const { cache_control: mark, ...content } = block as { cache_control?: unknown };
    const inMessages = kind === 'user' || kind === 'assistant';
    const written = JSON.stringify([kind, content, ...(inMessages ? [choice, thinking] : [])]);
    hash.update(written);
    bytes += Buffer.byteLength(written);
    prefixes.push({
      hash: hash.copy().digest('hex'),
      tokens: Math.ceil(bytes / 4),
      marked: Boolean(mark),
      hour: (mark as { ttl?: string } | undefined)?.ttl === '1h',
    });
  }
  return prefixes;
}
