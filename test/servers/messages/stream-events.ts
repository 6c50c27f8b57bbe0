import type { AnswerBlock, StopReason } from './answer.ts';
import type { CacheUsage } from './prompt-cache.ts';
import type { Dropped } from './thinking-signatures.ts';

export type StreamEvent = Readonly<{ type: string } & Record<string, unknown>>;

/** An answer with everything the API puts around it. */
export type FullAnswer = Readonly<{
  id: string;
  model: string;
  content: readonly (AnswerBlock & { id?: string; signature?: string })[];
  stopReason: StopReason;
  usage: Partial<CacheUsage> & { input_tokens: number };
  outputTokens: number;
  diagnostics?: object;
  /** Thinking of the request that the model was not shown, where the request asked to be told. */
  dropped?: readonly Dropped[];
}>;

/** The answer as the events of a stream, in the API's order; pings not included. */
export function streamEvents(answer: FullAnswer): readonly StreamEvent[] {
  const { id, model, content, stopReason, usage, outputTokens } = answer;
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...toldDropped(answer),
    ...(answer.diagnostics === undefined ? {} : { diagnostics: answer.diagnostics }),
  };
  const cut = stopReason === 'max_tokens';
  return [
    { type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 1 } } },
    ...content.flatMap((block, index) => blockEvents(block, index, cut && index === content.length - 1)),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason, stop_sequence: null, ...detailsOf(stopReason) },
      usage: { output_tokens: outputTokens, ...searchesOf(content) },
    },
    { type: 'message_stop' },
  ];
}

/** The answer as one JSON body, for a request without `stream`. */
export function wholeMessage(answer: FullAnswer): Readonly<Record<string, unknown>> {
  const { id, model, content, stopReason, usage, outputTokens } = answer;
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: content.map((block) =>
      block.type === 'tool_use' ? { ...block, caller: { type: 'direct' } } : block,
    ),
    stop_reason: stopReason,
    stop_sequence: null,
    ...detailsOf(stopReason),
    ...toldDropped(answer),
    usage: { ...usage, output_tokens: outputTokens },
  };
}

/** The searches that were made, as usage counts them. */
function searchesOf(content: FullAnswer['content']): object {
  const made = content.filter((block) => block.type === 'server_tool_use' && block.name === 'web_search');
  return made.length === 0
    ? {}
    : { server_tool_use: { web_search_requests: made.length, web_fetch_requests: 0 } };
}

function toldDropped({ dropped }: FullAnswer): object {
  return dropped === undefined ? {} : { input_transformations: dropped };
}

function detailsOf(stopReason: StopReason): object {
  if (stopReason !== 'refusal') return {};
  return { stop_details: { type: 'refusal', category: null, explanation: null } };
}

/** `cut`: the length limit fell into this block: a tool's input stops halfway, and the block never ends. */
function blockEvents(
  block: FullAnswer['content'][number],
  index: number,
  cut: boolean,
): readonly StreamEvent[] {
  const start = (content_block: object): StreamEvent => ({
    type: 'content_block_start',
    index,
    content_block,
  });
  const delta = (part: object): StreamEvent => ({ type: 'content_block_delta', index, delta: part });
  const stop: StreamEvent = { type: 'content_block_stop', index };
  switch (block.type) {
    case 'text':
      return [
        start({ type: 'text', text: '' }),
        ...pieces(block.text).map((text) => delta({ type: 'text_delta', text })),
        ...(block.citations ?? []).map((citation) => delta({ type: 'citations_delta', citation })),
        stop,
      ];
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...pieces(block.thinking).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ];
    case 'tool_search_tool_result':
    case 'web_search_tool_result':
      return [start(block), stop];
    case 'tool_use':
    case 'server_tool_use': {
      const { type, id, name } = block;
      const written = ('json' in block ? block.json : undefined) ?? JSON.stringify(block.input);
      const json = cut ? written.slice(0, Math.floor(written.length / 2)) : written;
      return [
        start({ type, id, name, ...(type === 'tool_use' ? { caller: { type: 'direct' } } : {}), input: {} }),
        delta({ type: 'input_json_delta', partial_json: '' }),
        ...pieces(json).map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        ...(cut ? [] : [stop]),
      ];
    }
  }
}

/** Characters that come in one event. */
const longestPiece = 40;

function pieces(text: string): readonly string[] {
  const characters = Array.from(text);
  const size = Math.max(1, Math.min(longestPiece, Math.ceil(characters.length / 4)));
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}
