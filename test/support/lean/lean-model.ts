import type { ServerResponse } from 'node:http';

/** What a text says or answers, each `message N`: one answer may be for several that joined one turn (H11). */
export function messagesIn(text: string): readonly string[] {
  return text.match(/message \d+/g) ?? [];
}

/** Answers a request of the Messages API with every `message N` since its last answer. */
export function sendModelAnswer(
  { messages }: Readonly<Record<string, unknown>>,
  response: ServerResponse,
): void {
  const said = JSON.stringify((messages as readonly unknown[]).at(-1));
  const text = messagesIn(said).join(', ') || 'Fine.';
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
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  response.setHeader('content-type', 'text/event-stream');
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}
