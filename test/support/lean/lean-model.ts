import type { ServerResponse } from 'node:http';

type Block = Readonly<{
  type: string;
  text?: string;
  /** Of a tool's result. */
  content?: unknown;
}>;

export type ModelRequest = Readonly<{
  messages: readonly Readonly<{ role: string; content: string | readonly Block[] }>[];
}>;

/** What a text says or answers, each `message N`: one answer may be for several that joined one turn (H11). Else all of it. */
export function messagesIn(text: string): readonly string[] {
  return text.match(/message \d+/g) ?? [text];
}

/**
 * Answers a request of the Messages API with every `message N` since its last answer. Before that it sends each file that it
 * was told to `send` since; if one can't be sent it says why, and answers nothing else.
 */
export function sendModelAnswer({ messages }: ModelRequest, response: ServerResponse): void {
  const blocks = (role: string): readonly Block[] =>
    messages
      .slice(sinceAnswer(messages))
      .flatMap((message) => (message.role === role ? blocksOf(message) : []));
  const heard = blocks('user');
  const said = heard.map(({ text = '' }) => text).join('\n');
  const wanted = [...said.matchAll(/\bsend (file-\d+\.bin)/g)].map(([, name]) => name);
  const results = heard.flatMap(({ type, content }) =>
    type === 'tool_result' ? [JSON.stringify(content)] : [],
  );
  const failed = results.find((result) => !result.includes('It is on its way to the person.'));
  const next = wanted[results.length];
  if (failed !== undefined) return answer(response, 'end_turn', inText(`The file was not sent: ${failed}`));
  const numbers = said.includes('message ') ? messagesIn(said).join(', ') : 'Fine.';
  if (next === undefined) return answer(response, 'end_turn', inText(numbers));
  const call = { type: 'tool_use', id: `toolu_${messages.length}`, name: 'send_file', input: {} };
  const input = { type: 'input_json_delta', partial_json: JSON.stringify({ path: next }) };
  answer(response, 'tool_use', [call, input]);
}

/** Where the first message stands after the last answer that called no tool. */
function sinceAnswer(messages: ModelRequest['messages']): number {
  const answers = (message: ModelRequest['messages'][number]): boolean =>
    message.role === 'assistant' && blocksOf(message).every(({ type }) => type !== 'tool_use');
  return messages.findLastIndex(answers) + 1;
}

function blocksOf({ content }: ModelRequest['messages'][number]): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** A block of an answer as a stream has it: its beginning, and the rest of it. */
type Streamed = readonly [content_block: object, delta: object];

const inText = (text: string): Streamed => [
  { type: 'text', text: '' },
  { type: 'text_delta', text },
];

function answer(
  response: ServerResponse,
  stop_reason: 'end_turn' | 'tool_use',
  [content_block, delta]: Streamed,
): void {
  const usage = { input_tokens: 10, output_tokens: 2 };
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'lean',
    content: [],
    stop_reason: null,
    usage,
  };
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  response.setHeader('content-type', 'text/event-stream');
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}
