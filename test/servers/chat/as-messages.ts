import type { MessagesRequest, RequestBlock } from '../messages/request-shape.ts';
import type { ChatRequest, RequestMessage, RequestPart } from './chat-shape.ts';

/** The request in the words of the Messages API, so that one script answers servers of both kinds. */
export function asMessages({ messages, tools, model, tool_choice, ...body }: ChatRequest): MessagesRequest {
  const said: { role: 'user' | 'assistant'; content: RequestBlock[] }[] = [];
  const system: string[] = [];
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') {
      system.push(words(message.content));
      continue;
    }
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = said.at(-1);
    if (last?.role === role) last.content.push(...blocksOf(message));
    else said.push({ role, content: [...blocksOf(message)] });
  }
  const { max_completion_tokens, max_tokens, stream, reasoning_effort } = body;
  return {
    model,
    max_tokens: max_completion_tokens ?? max_tokens ?? 4_096,
    messages: said,
    ...(system.length === 0 ? {} : { system: system.map((text) => ({ type: 'text' as const, text })) }),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ function: { name, description, parameters } }) => ({
            name,
            ...(description === undefined ? {} : { description }),
            input_schema: { ...parameters, type: 'object' as const },
          })),
        }),
    ...(tool_choice === 'none' ? { tool_choice: { type: 'none' as const } } : {}),
    ...(stream === undefined ? {} : { stream }),
    ...(reasoning_effort === undefined || reasoning_effort === 'none' || reasoning_effort === 'minimal'
      ? {}
      : { output_config: { effort: reasoning_effort } }),
  };
}

function blocksOf(
  message: Exclude<RequestMessage, { role: 'system' | 'developer' }>,
): readonly RequestBlock[] {
  if (message.role === 'tool') {
    const text = words(message.content);
    const isError = text.startsWith('Error: ');
    return [
      {
        type: 'tool_result',
        tool_use_id: message.tool_call_id,
        content: isError ? text.slice('Error: '.length) : text,
        ...(isError ? { is_error: true } : {}),
      },
    ];
  }
  if (message.role === 'user')
    return typeof message.content === 'string'
      ? [{ type: 'text', text: message.content }]
      : message.content.map(toBlock);
  const text = words(message.content ?? '');
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...(message.tool_calls ?? []).map(({ id, function: { name, arguments: written } }) => ({
      type: 'tool_use' as const,
      id,
      name,
      input: JSON.parse(written) as Record<string, unknown>,
    })),
  ];
}

function toBlock(part: RequestPart): RequestBlock {
  if (part.type === 'text') return part;
  const url = part.type === 'image_url' ? part.image_url.url : (part.file.file_data ?? '');
  const [, media_type, data = ''] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
  const source = { type: 'base64', media_type, data } as Extract<RequestBlock, { type: 'image' }>['source'];
  return { type: part.type === 'image_url' ? 'image' : 'document', source };
}

function words(content: string | readonly Readonly<{ text: string }>[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('\n\n');
}
