import type Anthropic from '@anthropic-ai/sdk';
import type { Kept } from './chat-request.ts';
import type { AnswerForm, Fields } from './read-answer.ts';

type Event = Fields;

/**
 * Reads Chat Completions: chunks of a stream, or a whole answer. Servers leave out indexes, ids, usage and `[DONE]`, and
 * name thinking `reasoning_content` or `reasoning` (M17, M19). `names` are the tools whose names were shortened.
 */
export function createChatForm(names: ReadonlyMap<string, string>): AnswerForm {
  const writer = createWriter(names);
  return {
    name: 'Chat Completions API',
    events(fields, whole) {
      const { type, object, choices, usage, model, x_groq } = fields;
      if (type === 'message_stop') return [fields];
      if (object === 'error') return [{ type: 'error', error: fields }];
      const counted = usage ?? asFields(x_groq)['usage'];
      if (!Array.isArray(choices)) return whole ? undefined : usageEvents(counted);
      const choice = asFields(choices[0]);
      return [
        ...writer.begin(model),
        ...writer.take(asFields(choice['delta'] ?? choice['message'])),
        ...usageEvents(counted ?? choice['usage']),
        ...endEvents(choice['finish_reason'], whole),
      ];
    },
    arrange,
  };
}

/** Thinking first, then words, then calls: in this API they have no order, and thinking must be before what it led to. */
function arrange(content: readonly Anthropic.ContentBlock[]): readonly Anthropic.ContentBlock[] {
  const ranks = ['thinking', 'redacted_thinking', 'text', 'tool_use'];
  return content.toSorted((a, b) => ranks.indexOf(a.type) - ranks.indexOf(b.type));
}

type Call = { readonly index: number; readonly id: string; readonly nth: number; json: string };

/** Whether a name begins another call under the same key: some servers count from 0 for each call, or give no ids. */
function isAnother({ id, json }: Call, told: string | undefined): boolean {
  if (told !== undefined && id !== '') return told !== id;
  try {
    return typeof JSON.parse(json) === 'object';
  } catch {
    return false;
  }
}

/** Numbers the blocks of one answer, and makes those that a server wants back unread. */
type Blocks = Readonly<{ next(): number; keep(kept: Kept): readonly Event[] }>;

/** Writes the events of the blocks of an answer. */
function createWriter(names: ReadonlyMap<string, string>) {
  let count = 0;
  const blocks: Blocks = {
    next: () => count++,
    keep(kept) {
      const index = count++;
      const content_block = { type: 'redacted_thinking', data: JSON.stringify(kept) };
      return [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ];
    },
  };
  const words = createWords(blocks);
  const call = createCalls(blocks, names);
  let begun = false;

  return {
    begin(model: unknown): readonly Event[] {
      if (begun) return [];
      begun = true;
      return [{ type: 'message_start', message: { model } }];
    },
    take(delta: Fields): readonly Event[] {
      const { content, reasoning_content, reasoning, reasoning_details, refusal, tool_calls } = delta;
      const sealed = asList(reasoning_details).filter(
        (one) => asFields(one)['type'] === 'reasoning.encrypted',
      );
      const field = asString(reasoning_content) === undefined ? 'reasoning' : 'reasoning_content';
      return [
        ...words('thinking', field, asString(reasoning_content) ?? reasoning),
        ...asList(typeof content === 'string' ? [{ type: 'text', text: content }] : content).flatMap(
          (part) => {
            const { type, text, thinking } = asFields(part);
            if (type !== 'thinking') return words('text', 'text', text);
            const pieces = typeof thinking === 'string' ? [{ text: thinking }] : asList(thinking);
            return pieces.flatMap((piece) => words('thinking', 'thinking', asFields(piece)['text']));
          },
        ),
        ...words('text', 'text', refusal),
        ...(sealed.length === 0 ? [] : blocks.keep({ reasoning_details: sealed })),
        ...asList(tool_calls).flatMap((one, position) => call(asFields(one), position)),
      ];
    },
  };
}

/** Writes words and thinking: a block ends where another field begins. */
function createWords(blocks: Blocks) {
  let open: Readonly<{ field: string; index: number }> | undefined;
  return (kind: 'text' | 'thinking', field: string, written: unknown): readonly Event[] => {
    if (typeof written !== 'string' || written === '') return [];
    const events: Event[] = [];
    if (open?.field !== field) {
      if (open !== undefined) events.push({ type: 'content_block_stop', index: open.index });
      open = { field, index: blocks.next() };
      const start =
        kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: field };
      events.push({ type: 'content_block_start', index: open.index, content_block: start });
    }
    const delta =
      kind === 'text' ? { type: 'text_delta', text: written } : { type: 'thinking_delta', thinking: written };
    return [...events, { type: 'content_block_delta', index: open.index, delta }];
  };
}

/** Writes calls. Each has its own block, in whatever order its pieces come. */
function createCalls({ next, keep }: Blocks, names: ReadonlyMap<string, string>) {
  const calls = new Map<unknown, Call>();
  let count = 0;
  return (given: Fields, position: number): readonly Event[] => {
    const { id, index, extra_content } = given;
    const { name, arguments: written } = asFields(given['function'] ?? given);
    const [named, told] = [asString(name), asString(id)];
    // Without an index, pieces belong to the call with their id, else to the newest one.
    const newest = named === undefined ? [...calls.keys()].at(-1) : `new ${count}`;
    const key = index ?? told ?? newest ?? position;
    const events: Event[] = [];
    let known = calls.get(key);
    if (known === undefined || (named !== undefined && isAnother(known, told))) {
      known = { index: next(), id: told ?? '', json: '', nth: count++ };
      calls.set(key, known);
      const tool = named === undefined ? 'unnamed' : (names.get(named) ?? named);
      const block = { type: 'tool_use', id: told ?? `call_${known.nth + 1}`, name: tool, input: '' };
      events.push({ type: 'content_block_start', index: known.index, content_block: block });
    }
    if (written !== undefined && written !== null && written !== '') {
      known.json += typeof written === 'string' ? written : JSON.stringify(written);
      const delta = { type: 'input_json_delta', partial_json: written };
      events.push({ type: 'content_block_delta', index: known.index, delta });
    }
    if (Object.keys(asFields(extra_content)).length > 0)
      events.push(...keep({ call: known.nth, extra_content: asFields(extra_content) }));
    return events;
  };
}

/** The counts of a usage in the words of the Messages API, where cached tokens are no part of the input. */
function usageEvents(usage: unknown): readonly Event[] {
  const { prompt_tokens, completion_tokens, prompt_tokens_details, prompt_cache_hit_tokens } =
    asFields(usage);
  const { cached_tokens, cache_write_tokens } = asFields(prompt_tokens_details);
  const toCount = (given: unknown): number =>
    Number.isFinite(Number(given)) ? Math.max(0, Number(given ?? 0)) : 0;
  const [all, read, write] = [
    prompt_tokens,
    cached_tokens ?? prompt_cache_hit_tokens,
    cache_write_tokens,
  ].map(toCount);
  if (all === 0 && toCount(completion_tokens) === 0) return [];
  return [
    {
      type: 'message_delta',
      delta: {},
      usage: {
        input_tokens: Math.max(0, (all ?? 0) - (read ?? 0) - (write ?? 0)),
        output_tokens: toCount(completion_tokens),
        cache_read_input_tokens: read,
        cache_creation_input_tokens: write,
      },
    },
  ];
}

const busy: readonly unknown[] = ['insufficient_system_resource', 'error'];

function endEvents(reason: unknown, whole: boolean): readonly Event[] {
  if (busy.includes(reason))
    return [
      { type: 'error', error: { type: 'overloaded_error', message: `it ended with ${String(reason)}` } },
    ];
  if (typeof reason === 'string' && reason !== '')
    return [{ type: 'message_delta', delta: { stop_reason: reason === 'stop' ? 'end_turn' : reason } }];
  return whole ? [{ type: 'message_stop' }] : [];
}

function asString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asFields(value: unknown): Fields {
  return (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}) as Fields;
}
