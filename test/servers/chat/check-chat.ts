import type { ChatRequest, RequestMessage } from './chat-shape.ts';
import type { Refusal } from './refusal.ts';

/**
 * Whose server it is like. All refuse what OpenAI refuses about pairs of calls and results. Each has more of its own:
 *
 * - openai: names, ids of 40 characters, `max_tokens` and tools with an effort at reasoning models (openai-openapi#541,
 *   litellm#34569, opencode#12653).
 * - mistral: ids of 9 letters and digits (code 3280), no user directly after a tool (code 3230; litellm#6323).
 * - deepseek: `reasoning_content` in each assistant message with calls (api-docs.deepseek.com/guides/thinking_mode).
 * - gemini: a thought signature at the first call of each answer (ai.google.dev/gemini-api/docs/thought-signatures).
 * - other: vLLM, llama.cpp, Ollama and the rest, which refuse little.
 */
export type Like = 'openai' | 'mistral' | 'deepseek' | 'gemini' | 'other';

/** What a server refuses beyond the shape. Undefined if the request is good. */
export function checkChat(request: ChatRequest, like: Like): Refusal | undefined {
  return (
    wrongMessages(request) ??
    wrongPairs(request) ??
    wrongTools(request) ??
    wrongFiles(request) ??
    own[like](request)
  );
}

const own: Readonly<Record<Like, (request: ChatRequest) => Refusal | undefined>> = {
  openai: (request) => wrongIds(request) ?? wrongSettings(request),
  mistral: wrongForMistral,
  deepseek: wrongForDeepseek,
  gemini: wrongForGemini,
  other: () => undefined,
};

function wrongMessages({ messages, stream, stream_options }: ChatRequest): Refusal | undefined {
  if (messages.length === 0)
    return {
      message:
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      param: 'messages',
      code: 'empty_array',
    };
  if (stream_options !== undefined && stream !== true)
    return {
      message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      param: 'stream_options',
    };
  for (const [index, { role, content, ...more }] of messages.entries()) {
    const calls = 'tool_calls' in more ? more.tool_calls : undefined;
    if (Array.isArray(content) && content.length === 0)
      return {
        message: `Invalid 'messages[${index}].content': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
        param: `messages[${index}].content`,
        code: 'empty_array',
      };
    if (calls?.length === 0)
      return {
        message: `Invalid 'messages[${index}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
        param: `messages[${index}].tool_calls`,
        code: 'empty_array',
      };
    if (role === 'assistant' && (content === null || content === undefined) && calls === undefined)
      return {
        message: "Invalid value for 'content': expected a string, got null.",
        param: `messages.[${index}].content`,
      };
  }
  return undefined;
}

function callsOf(message: RequestMessage | undefined) {
  return message?.role === 'assistant' ? (message.tool_calls ?? []) : [];
}

function wrongPairs({ messages }: ChatRequest): Refusal | undefined {
  let open: string[] = [];
  let from = 0;
  const unanswered = (): Refusal => ({
    message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
    param: `messages.[${from}].role`,
  });
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool') {
      if (open.length > 0) return unanswered();
      open = callsOf(message).map(({ id }) => id);
      from = index + 1;
      continue;
    }
    if (!open.includes(message.tool_call_id))
      return {
        message:
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        param: `messages.[${index}].role`,
      };
    open = open.filter((id) => id !== message.tool_call_id);
  }
  return open.length > 0 ? unanswered() : undefined;
}

const namePattern = '^[a-zA-Z0-9_-]+$';

function wrongName(name: string, param: string): Refusal | undefined {
  if (!new RegExp(namePattern).test(name))
    return {
      message: `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '${namePattern}'.`,
      param,
      code: 'invalid_value',
    };
  return tooLong(name, 64, param);
}

function tooLong(text: string, most: number, param: string): Refusal | undefined {
  if (text.length <= most) return undefined;
  return {
    message: `Invalid '${param}': string too long. Expected a string with maximum length ${most}, but got a string with length ${text.length} instead.`,
    param,
    code: 'string_above_max_length',
  };
}

function wrongTools({ tools, tool_choice }: ChatRequest): Refusal | undefined {
  if (tools?.length === 0)
    return {
      message:
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      param: 'tools',
      code: 'empty_array',
    };
  if (tools === undefined && tool_choice !== undefined)
    return {
      message: "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      param: 'tool_choice',
    };
  for (const [index, { function: one }] of (tools ?? []).entries()) {
    const wrong = wrongName(one.name, `tools[${index}].function.name`);
    if (wrong !== undefined) return wrong;
    const { parameters } = one;
    if (parameters === undefined) continue;
    const problem =
      parameters['type'] !== 'object'
        ? `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(parameters['type'])}"'.`
        : parameters['properties'] === undefined
          ? 'object schema missing properties.'
          : undefined;
    if (problem !== undefined)
      return {
        message: `Invalid schema for function '${one.name}': In context=(), ${problem}`,
        param: `tools[${index}].function.parameters`,
        code: 'invalid_function_parameters',
      };
  }
  return undefined;
}

const magics: Readonly<Record<string, RegExp>> = {
  'image/jpeg': /^ffd8ff/,
  'image/png': /^89504e470d0a1a0a/,
  'image/gif': /^47494638/,
  'image/webp': /^52494646.{8}57454250/,
};

function wrongFiles({ messages }: ChatRequest): Refusal | undefined {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'user' || typeof message.content === 'string') continue;
    for (const [at, part] of message.content.entries()) {
      if (part.type === 'text') continue;
      const url = part.type === 'image_url' ? part.image_url.url : (part.file.file_data ?? '');
      const [, type = '', data = ''] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
      const bytes = Buffer.from(data, 'base64');
      const hex = bytes.subarray(0, 16).toString('hex');
      if (part.type === 'image_url' && !magics[type]?.test(hex))
        return {
          message:
            "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
          param: `messages[${index}].content[${at}].image_url`,
          code: 'invalid_image_format',
        };
      if (
        part.type === 'file' &&
        (type !== 'application/pdf' || !bytes.subarray(0, 5).equals(Buffer.from('%PDF-')))
      )
        return {
          message: `Invalid file data: 'messages[${index}].content[${at}].file.file_data'. Expected a base64-encoded data URL with an application/pdf MIME type, but got unsupported MIME type '${type}'.`,
          param: `messages[${index}].content[${at}].file.file_data`,
          code: 'invalid_value',
        };
    }
  }
  return undefined;
}

function wrongIds({ messages }: ChatRequest): Refusal | undefined {
  for (const [index, message] of messages.entries())
    for (const [at, { id, function: one }] of callsOf(message).entries()) {
      const where = `messages[${index}].tool_calls[${at}]`;
      const wrong = tooLong(id, 40, `${where}.id`) ?? wrongName(one.name, `${where}.function.name`);
      if (wrong !== undefined) return wrong;
    }
  return undefined;
}

/** What OpenAI's reasoning models refuse. */
function wrongSettings({ model, tools, reasoning_effort, ...body }: ChatRequest): Refusal | undefined {
  const isReasoning = /^(o\d|gpt-5)/.test(model);
  if (!isReasoning && reasoning_effort !== undefined)
    return { message: 'Unrecognized request argument supplied: reasoning_effort' };
  if (!isReasoning) return undefined;
  for (const [name, instead] of [
    ['max_tokens', "Use 'max_completion_tokens' instead."],
    ['temperature', 'Only the default (1) value is supported.'],
  ] as const)
    if (body[name] !== undefined)
      return {
        message: `Unsupported parameter: '${name}' is not supported with this model. ${instead}`,
        param: name,
        code: 'unsupported_parameter',
      };
  const [, minor = 0] = /^gpt-5\.(\d+)/.exec(model) ?? [];
  if (tools === undefined || reasoning_effort === 'none') return undefined;
  const refusing = `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions.`;
  if (Number(minor) >= 6)
    return {
      message: `${refusing} To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      param: 'reasoning_effort',
    };
  return Number(minor) >= 2 && reasoning_effort !== undefined
    ? { message: `${refusing} Please use /v1/responses instead.`, param: 'reasoning_effort' }
    : undefined;
}

function wrongForMistral({
  messages,
  stream_options,
  max_completion_tokens,
}: ChatRequest): Refusal | undefined {
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user' && messages[index - 1]?.role === 'tool')
      return {
        message: "Unexpected role 'user' after role 'tool'",
        type: 'invalid_request_message_order',
        code: '3230',
      };
    for (const { id } of callsOf(message))
      if (!/^[a-zA-Z0-9]{9}$/.test(id))
        return {
          message: `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`,
          type: 'invalid_function_call',
          code: '3280',
        };
  }
  const extra = stream_options !== undefined ? 'stream_options' : 'max_completion_tokens';
  return stream_options !== undefined || max_completion_tokens !== undefined
    ? { message: `Extra inputs are not permitted: ${extra}`, type: 'invalid_request_error', status: 422 }
    : undefined;
}

function wrongForDeepseek({ messages }: ChatRequest): Refusal | undefined {
  const lacks = messages.some(
    (message) => message.role === 'assistant' && message.reasoning_content === undefined,
  );
  return lacks
    ? {
        message: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
        code: 'invalid_request_error',
      }
    : undefined;
}

function wrongForGemini({ messages }: ChatRequest): Refusal | undefined {
  for (const [index, message] of messages.entries()) {
    const [first] = callsOf(message);
    const google = first?.extra_content?.['google'] as Readonly<{ thought_signature?: string }> | undefined;
    if (first !== undefined && google?.thought_signature === undefined)
      return {
        message: `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.function.name}\` , position ${index + 1}.`,
      };
  }
  return undefined;
}
