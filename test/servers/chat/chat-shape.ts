import { z } from 'zod';
import type { Refusal } from './refusal.ts';

/**
 * The body of POST /v1/chat/completions as OpenAI accepts it, by the types of the package `openai` 7.59
 * (`ChatCompletionCreateParams`), as far as a chat bot needs it.
 */
const textPart = z.strictObject({ type: z.literal('text'), text: z.string() });
const part = z.discriminatedUnion('type', [
  textPart,
  z.strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({ url: z.string(), detail: z.enum(['auto', 'low', 'high']).optional() }),
  }),
  z.strictObject({
    type: z.literal('file'),
    file: z.strictObject({ filename: z.string().optional(), file_data: z.string().optional() }),
  }),
]);
export type RequestPart = z.output<typeof part>;
const call = {
  id: z.string(),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
};
const assistant = {
  role: z.literal('assistant'),
  content: z.union([z.string(), z.array(textPart)]).nullish(),
  refusal: z.string().nullish(),
  name: z.string().optional(),
};
const system = z.strictObject({
  role: z.literal('system'),
  content: z.union([z.string(), z.array(textPart)]),
});
const developer = system.extend({ role: z.literal('developer') });
const user = z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(part)]) });
const tool = z.strictObject({
  role: z.literal('tool'),
  tool_call_id: z.string(),
  content: z.union([z.string(), z.array(textPart)]),
});
const strictMessage = z.discriminatedUnion('role', [
  system,
  developer,
  user,
  tool,
  z.strictObject({ ...assistant, tool_calls: z.array(z.strictObject(call)).optional() }),
]);
/** Other servers read fields of messages that OpenAI refuses. */
const looseMessage = z.discriminatedUnion('role', [
  system,
  developer,
  user,
  tool,
  z.strictObject({
    ...assistant,
    reasoning_content: z.string().optional(),
    reasoning: z.string().optional(),
    reasoning_details: z.array(z.looseObject({})).optional(),
    tool_calls: z.array(z.strictObject({ ...call, extra_content: z.looseObject({}).optional() })).optional(),
  }),
]);
export type RequestMessage = z.output<typeof looseMessage>;

const body = z.strictObject({
  model: z.string().min(1),
  messages: z.array(looseMessage),
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional() }).optional(),
  max_tokens: z.int().min(1).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({
          name: z.string(),
          description: z.string().optional(),
          parameters: z.looseObject({}).optional(),
          strict: z.boolean().nullish(),
        }),
      }),
    )
    .optional(),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), z.looseObject({})]).optional(),
  parallel_tool_calls: z.boolean().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
});
export type ChatRequest = z.output<typeof body>;
const strict = body.extend({ messages: z.array(strictMessage) });

/** The request, or what OpenAI says of the first thing that is wrong with its shape. */
export function parseChat(
  json: unknown,
  isStrict: boolean,
): Readonly<{ request: ChatRequest } | { wrong: Refusal }> {
  const parsed = (isStrict ? strict : body).safeParse(json, { reportInput: true });
  if (parsed.success) return { request: parsed.data };
  const [issue] = parsed.error.issues;
  return { wrong: issue === undefined ? { message: 'Invalid request.' } : say(deepest(issue)) };
}

function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors.flatMap((list) => list.slice(0, 1)).map((found) => deepest(found));
  const best = inner.sort((a, b) => b.path.length - a.path.length)[0];
  return best === undefined ? issue : { ...best, path: [...issue.path, ...best.path] };
}

function say(issue: z.core.$ZodIssue): Refusal {
  const at = (more: readonly PropertyKey[] = []): string =>
    [...issue.path, ...more].reduce<string>(
      (path, key) =>
        typeof key === 'number' ? `${path}[${key}]` : path === '' ? String(key) : `${path}.${String(key)}`,
      '',
    );
  if (issue.code === 'unrecognized_keys') {
    const param = at(issue.keys.slice(0, 1));
    return { message: `Unknown parameter: '${param}'.`, param, code: 'unknown_parameter' };
  }
  if (issue.input === undefined)
    return {
      message: `Missing required parameter: '${at()}'.`,
      param: at(),
      code: 'missing_required_parameter',
    };
  if (issue.code === 'invalid_type')
    return {
      message: `Invalid type for '${at()}': expected ${issue.expected}, but got ${issue.input === null ? 'null' : typeof issue.input} instead.`,
      param: at(),
      code: 'invalid_type',
    };
  return {
    message: `Invalid value: ${JSON.stringify(issue.input)}. ${issue.message}`,
    param: at(),
    code: 'invalid_value',
  };
}
