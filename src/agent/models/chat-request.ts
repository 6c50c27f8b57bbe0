import { hash } from 'node:crypto';
import type Anthropic from '@anthropic-ai/sdk';
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { AskedBody } from './http-model.ts';

/** A body for `/chat/completions`. Servers other than OpenAI's read further fields of messages. */
export type ChatBody = ChatCompletionCreateParamsStreaming;

type Block = Anthropic.ContentBlockParam;
/** `extra_content` is Google's. */
type Extra = Readonly<{ google?: Readonly<{ thought_signature?: unknown }> | null }>;
type Call = ChatCompletionMessageFunctionToolCall & Readonly<{ extra_content?: Extra | undefined }>;
type AssistantMessage = ChatCompletionAssistantMessageParam & Readonly<Record<string, unknown>>;

/** The families of servers that want something that no other server wants. */
export type ChatFamily = 'openai' | 'mistral' | 'deepseek' | 'gemini' | 'other';

const longestId = 40;
const longestName = 64;
/** What Google's documentation names for calls of other models (ai.google.dev/gemini-api/docs/thought-signatures). */
const unsigned = { google: { thought_signature: 'skip_thought_signature_validator' } };

export function chatFamily(baseUrl: string, model: string): ChatFamily {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : '';
  if (/(^|\.)openai\.(com|azure\.com)$/.test(host) || /^(gpt-\d|o\d)/.test(model)) return 'openai';
  if (/(^|\.)googleapis\.com$/.test(host) || /^gemini/.test(model)) return 'gemini';
  if (/deepseek/i.test(host) || /^deepseek/i.test(model)) return 'deepseek';
  return /mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral/i.test(`${host} ${model}`)
    ? 'mistral'
    : 'other';
}

/** Translates a request in the Messages API. What only that API has is left out: cache marks, server tools, citations. */
export function toChatBody(body: AskedBody, family: ChatFamily): ChatBody {
  const { model, max_tokens, system = [], messages, tools = [], tool_choice, thinking, output_config } = body;
  const instructions = typeof system === 'string' ? system : system.map(({ text }) => text).join('\n\n');
  const limit = family === 'openai' ? 'max_completion_tokens' : 'max_tokens';
  const effort = thinking?.type === 'disabled' ? 'none' : output_config?.effort;
  return {
    model,
    messages: [
      ...(instructions === '' ? [] : [{ role: 'system' as const, content: instructions }]),
      ...messages.flatMap((message) => toChatMessages(message, family)),
    ],
    stream: true,
    stream_options: { include_usage: true },
    [limit]: max_tokens,
    reasoning_effort: effort ?? undefined,
    tools: tools.length === 0 ? undefined : tools.flatMap(toChatTool),
    tool_choice: tool_choice?.type === 'none' ? 'none' : undefined,
  };
}

function toChatTool(tool: Anthropic.ToolUnion): NonNullable<ChatBody['tools']> {
  if (!('input_schema' in tool)) return [];
  const { name, description, input_schema } = tool;
  const { $schema: _, ...schema } = input_schema;
  // OpenAI refuses an object schema without properties, Google one that names its dialect.
  const parameters = { ...schema, properties: schema.properties ?? {} };
  return [{ type: 'function', function: { name: shortName(name), description, parameters } }];
}

/** The name of a tool as OpenAI accepts it, with 64 characters at most. */
export function shortName(name: string): string {
  if (name.length <= longestName) return name;
  return `${name.slice(0, longestName - 9)}_${hash('sha256', name).slice(0, 8)}`;
}

function toChatMessages(
  { role, content }: Anthropic.MessageParam,
  family: ChatFamily,
): readonly ChatCompletionMessageParam[] {
  const blocks: readonly Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (role === 'assistant') return [toAssistant(blocks, family)];
  const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [toResult(block, family)] : []));
  const parts = blocks.flatMap(toPart);
  if (parts.length === 0) return results;
  // Some servers read only a string, and that is all that words need.
  const said = parts.every((part) => part.type === 'text')
    ? parts.map((part) => part.text).join('\n\n')
    : parts;
  // Mistral refuses a user directly after a tool (code 3230).
  const between =
    family === 'mistral' && results.length > 0 ? [{ role: 'assistant', content: 'OK.' } as const] : [];
  return [...results, ...between, { role: 'user', content: said }];
}

function toResult(
  { tool_use_id, content = '', is_error }: Anthropic.ToolResultBlockParam,
  family: ChatFamily,
): ChatCompletionMessageParam {
  const words =
    typeof content === 'string'
      ? content
      : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  const said = is_error === true ? `Error: ${words}` : words;
  return { role: 'tool', tool_call_id: toChatId(tool_use_id, family), content: said };
}

function toPart(block: Block): readonly ChatCompletionContentPart[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  if (block.type !== 'image' && block.type !== 'document') return [];
  const { source } = block;
  if (source.type !== 'base64') return [];
  const url = `data:${source.media_type};base64,${source.data}`;
  if (block.type === 'image') return [{ type: 'image_url', image_url: { url } }];
  return [{ type: 'file', file: { filename: 'document.pdf', file_data: url } }];
}

function toAssistant(blocks: readonly Block[], family: ChatFamily): AssistantMessage {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
  const kept = blocks.flatMap((block) => (block.type === 'redacted_thinking' ? [keptIn(block.data)] : []));
  const calls = blocks
    .filter((block) => block.type === 'tool_use')
    .map((block, nth) => toCall(block, kept.find(({ call }) => call === nth)?.extra_content, family));
  // Google checks the first call of each answer.
  const [first] = calls;
  if (family === 'gemini' && first?.extra_content?.google?.thought_signature === undefined)
    Object.assign(first ?? {}, { extra_content: { ...first?.extra_content, ...unsigned } });
  const details = kept.flatMap((one) => one.reasoning_details ?? []);
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...reasoningOf(blocks, family),
    reasoning_details: details.length === 0 ? undefined : details,
    tool_calls: calls.length === 0 ? undefined : calls,
  };
}

/** The thinking of an answer under the name by which it came. DeepSeek wants it in each, if only an empty one. */
function reasoningOf(blocks: readonly Block[], family: ChatFamily): Readonly<Record<string, string>> {
  const thinking = blocks.filter((block) => block.type === 'thinking');
  const said = thinking.map((block) => block.thinking).join('');
  if (family === 'deepseek') return { reasoning_content: said };
  if (said === '') return {};
  return { [thinking[0]?.signature === 'reasoning' ? 'reasoning' : 'reasoning_content']: said };
}

function toCall(
  { id, name, input }: Anthropic.ToolUseBlockParam,
  extra: Extra | undefined,
  family: ChatFamily,
): Call {
  return {
    id: toChatId(id, family),
    type: 'function',
    function: { name: shortName(name), arguments: JSON.stringify(input) },
    extra_content: extra,
  };
}

/** OpenAI accepts 40 characters, Mistral exactly 9 letters and digits. The same id becomes the same. */
function toChatId(id: string, family: ChatFamily): string {
  if (family === 'mistral') return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hash('sha256', id).slice(0, 9);
  return id.length <= longestId ? id : `call_${hash('sha256', id).slice(0, 32)}`;
}

/** What a server wants back unread with an answer, as `chat-answer.ts` kept it. */
export type Kept = Readonly<{
  /** Which of the calls it belongs to, counted from 0. */
  call?: number;
  extra_content?: Extra;
  reasoning_details?: readonly unknown[];
}>;

function keptIn(data: string): Kept {
  try {
    return JSON.parse(data) as Kept;
  } catch {
    return {};
  }
}
