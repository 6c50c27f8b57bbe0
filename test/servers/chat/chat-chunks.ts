import type { AnswerBlock, StopReason } from '../messages/answer.ts';
import type { Frame } from '../messages/send-stream.ts';

/** An answer, and how a server writes it. */
export type ChatAnswer = Readonly<{
  id: string;
  model: string;
  content: readonly AnswerBlock[];
  stopReason: StopReason;
  /** Tokens of the prompt, those from the cache included; undefined where the server counts none. */
  usage?: Readonly<{ prompt: number; cached: number; completion: number }>;
  loose: Loose;
}>;

/**
 * What servers do otherwise than OpenAI (M19), as seen at vLLM, llama.cpp, Ollama and gateways: see the docs of each,
 * and vllm#17614, ollama#7881, llama.cpp#12601 for what they leave out.
 */
export type Loose = Readonly<{
  /** No counts, although they were asked for. */
  noUsage?: boolean;
  /** The stream ends without `[DONE]`. */
  noDone?: boolean;
  /** `finish_reason` is `stop` with calls. */
  saysStop?: boolean;
  /** Arguments are an object instead of its JSON. */
  objects?: boolean;
  /** Calls have no index, as Ollama sent them. */
  noIndexes?: boolean;
  /** All calls have the index 0. */
  zeroIndexes?: boolean;
  /** Ids are empty. */
  noIds?: boolean;
  /** Where thinking is: in a field, or in the text between tags. */
  thinking?: 'reasoning_content' | 'reasoning' | 'tags';
  /** Each call comes whole. */
  wholeCalls?: boolean;
  /** A signature for Google's models. */
  signs?: boolean;
  /** A whole answer instead of a stream. */
  noStream?: boolean;
}>;

const finishes: Readonly<Record<StopReason, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** The answer as frames of a stream: chunks as `chat.completion.chunk` of the API reference describes them. */
export function chatFrames(answer: ChatAnswer): readonly Frame[] {
  const { loose, usage } = answer;
  const base = {
    id: answer.id,
    object: 'chat.completion.chunk',
    created: 1_764_000_000,
    model: answer.model,
  };
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    ...base,
    system_fingerprint: 'fp_test',
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(loose.noUsage === true || usage === undefined ? {} : { usage: null }),
  });
  const counts =
    usage === undefined || loose.noUsage === true ? [] : [{ ...base, choices: [], usage: toUsage(usage) }];
  return [
    frame(chunk({ role: 'assistant', content: '', refusal: null })),
    ...deltas(answer).map((delta) => frame(chunk(delta))),
    { ...frame(chunk({}, finishOf(answer))), held: true },
    ...counts.map((one) => frame(one)),
    ...(loose.noDone === true ? [] : [{ held: false, text: 'data: [DONE]\n\n' }]),
  ];
}

/** The answer as one JSON body: `chat.completion`. */
export function wholeChat(answer: ChatAnswer): object {
  const message: Record<string, unknown> = { role: 'assistant', content: null };
  const calls: object[] = [];
  for (const delta of deltas({ ...answer, loose: { ...answer.loose, wholeCalls: true } })) {
    for (const [key, value] of Object.entries(delta))
      if (key === 'tool_calls') calls.push(...(value as object[]));
      else message[key] = `${(message[key] as string | null) ?? ''}${String(value)}`;
  }
  if (calls.length > 0) message['tool_calls'] = calls;
  return {
    id: answer.id,
    object: 'chat.completion',
    model: answer.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer) }],
    ...(answer.usage === undefined || answer.loose.noUsage === true ? {} : { usage: toUsage(answer.usage) }),
  };
}

function frame(data: object): Frame {
  return { held: false, text: `data: ${JSON.stringify(data)}\n\n` };
}

function finishOf({ loose, stopReason }: ChatAnswer): string {
  return loose.saysStop === true && stopReason === 'tool_use' ? 'stop' : finishes[stopReason];
}

function toUsage({ prompt, cached, completion }: NonNullable<ChatAnswer['usage']>): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function deltas({ content, loose, stopReason }: ChatAnswer): readonly object[] {
  let calls = 0;
  return content.flatMap((block, at): readonly object[] => {
    if (block.type === 'text') return pieces(block.text).map((text) => ({ content: text }));
    if (block.type === 'thinking') {
      if (loose.thinking === 'tags') return [{ content: `<think>${block.thinking}</think>\n\n` }];
      return loose.thinking === undefined
        ? []
        : pieces(block.thinking).map((text) => ({ [loose.thinking ?? '']: text }));
    }
    if (block.type !== 'tool_use') return [];
    const written = block.json ?? JSON.stringify(block.input);
    const cut = stopReason === 'max_tokens' && at === content.length - 1;
    const json = cut ? written.slice(0, Math.floor(written.length / 2)) : written;
    const nth = calls++;
    const index = loose.noIndexes === true ? {} : { index: loose.zeroIndexes === true ? 0 : nth };
    const begin = {
      ...index,
      id: loose.noIds === true ? '' : block.id,
      type: 'function',
      ...(loose.signs === true
        ? { extra_content: { google: { thought_signature: `sig-${block.name}-${nth}` } } }
        : {}),
    };
    const whole = loose.objects === true ? block.input : json;
    if (
      loose.wholeCalls === true ||
      loose.objects === true ||
      loose.noIndexes === true ||
      loose.zeroIndexes === true
    )
      return [{ tool_calls: [{ ...begin, function: { name: block.name, arguments: whole } }] }];
    return [
      { tool_calls: [{ ...begin, function: { name: block.name, arguments: '' } }] },
      ...pieces(json).map((text) => ({ tool_calls: [{ ...index, function: { arguments: text } }] })),
    ];
  });
}

function pieces(text: string): readonly string[] {
  const characters = Array.from(text);
  const size = Math.max(1, Math.min(40, Math.ceil(characters.length / 4)));
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}
