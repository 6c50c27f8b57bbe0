import { z } from 'zod';

const cacheControl = z
  .strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
  .nullish();
const toolId = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);

const text = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  cache_control: cacheControl,
  citations: z
    .array(
      z.strictObject({
        type: z.literal('web_search_result_location'),
        url: z.string(),
        title: z.string().nullish(),
        encrypted_index: z.string().min(1),
        cited_text: z.string(),
      }),
    )
    .nullish(),
});
const source = z.union([
  z.strictObject({
    type: z.literal('base64'),
    media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'application/pdf']),
    data: z.base64(),
  }),
  z.strictObject({ type: z.literal('url'), url: z.url() }),
  z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
]);
const image = z.strictObject({ type: z.literal('image'), source, cache_control: cacheControl });
const document = z.strictObject({
  type: z.literal('document'),
  source,
  title: z.string().nullish(),
  context: z.string().nullish(),
  cache_control: cacheControl,
});
const toolUse = {
  id: toolId,
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  input: z.record(z.string(), z.unknown()),
  caller: z.looseObject({ type: z.string() }).optional(),
  cache_control: cacheControl,
};
const reference = z.strictObject({ type: z.literal('tool_reference'), tool_name: z.string().min(1) });
const toolSearchResult = z.strictObject({
  type: z.literal('tool_search_tool_result'),
  tool_use_id: toolId,
  content: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('tool_search_tool_search_result'),
      tool_references: z.array(reference),
    }),
    z.strictObject({
      type: z.literal('tool_search_tool_result_error'),
      error_code: z.enum([
        'invalid_tool_input',
        'unavailable',
        'too_many_requests',
        'execution_time_exceeded',
      ]),
      error_message: z.string().nullish(),
    }),
  ]),
  cache_control: cacheControl,
});
const webSearchResult = z.strictObject({
  type: z.literal('web_search_tool_result'),
  tool_use_id: toolId,
  content: z.union([
    z.array(
      z.strictObject({
        type: z.literal('web_search_result'),
        url: z.string(),
        title: z.string(),
        encrypted_content: z.string().min(1),
        page_age: z.string().nullish(),
      }),
    ),
    z.strictObject({
      type: z.literal('web_search_tool_result_error'),
      error_code: z.enum([
        'invalid_tool_input',
        'unavailable',
        'max_uses_exceeded',
        'too_many_requests',
        'query_too_long',
      ]),
    }),
  ]),
  caller: z.looseObject({ type: z.string() }).optional(),
  cache_control: cacheControl,
});
const block = z.discriminatedUnion('type', [
  text,
  image,
  document,
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.strictObject({ type: z.literal('tool_use'), ...toolUse }),
  z.strictObject({
    type: z.literal('server_tool_use'),
    ...toolUse,
    name: z.enum(['web_search', 'tool_search_tool_bm25']),
  }),
  toolSearchResult,
  webSearchResult,
  z.strictObject({
    type: z.literal('tool_result'),
    tool_use_id: toolId,
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, image, document]))]).optional(),
    is_error: z.boolean().optional(),
    cache_control: cacheControl,
  }),
]);
export type RequestBlock = z.output<typeof block>;

const custom = z.strictObject({
  type: z.literal('custom').nullish(),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  description: z.string().optional(),
  input_schema: z.looseObject({ type: z.literal('object') }),
  defer_loading: z.boolean().optional(),
  cache_control: cacheControl,
});
const tool = z.union([
  z.strictObject({
    type: z.enum(['web_search_20250305', 'web_search_20260209', 'web_search_20260318']),
    name: z.literal('web_search'),
    max_uses: z.int().min(1).nullish(),
    allowed_domains: z.array(z.string()).nullish(),
    blocked_domains: z.array(z.string()).nullish(),
    user_location: z.looseObject({ type: z.literal('approximate') }).nullish(),
    allowed_callers: z.array(z.enum(['direct', 'code_execution_20260120'])).optional(),
    defer_loading: z.boolean().optional(),
    cache_control: cacheControl,
  }),
  z.strictObject({
    type: z.enum(['tool_search_tool_bm25_20251119', 'tool_search_tool_bm25']),
    name: z.literal('tool_search_tool_bm25'),
    defer_loading: z.boolean().optional(),
    cache_control: cacheControl,
  }),
  custom,
]);
export type RequestTool = z.output<typeof tool>;

const blockBinding = z
  .strictObject({ prefix_mismatch_behavior: z.enum(['error', 'drop_block']).nullish() })
  .optional();

const base = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z.array(
    z.strictObject({ role: z.enum(['user', 'assistant']), content: z.union([z.string(), z.array(block)]) }),
  ),
  system: z.union([z.string(), z.array(text)]).optional(),
  tools: z.array(tool).optional(),
  tool_choice: z.looseObject({ type: z.enum(['auto', 'any', 'tool', 'none']) }).optional(),
  stream: z.boolean().optional(),
  stop_sequences: z.array(z.string()).optional(),
  metadata: z.strictObject({ user_id: z.string().nullish() }).optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('enabled'),
        budget_tokens: z.int().min(1024),
        block_binding: blockBinding,
      }),
      z.strictObject({ type: z.literal('disabled') }),
      z.strictObject({ type: z.literal('adaptive'), block_binding: blockBinding }),
      z.strictObject({ type: z.literal('between_tools') }),
    ])
    .optional(),
  output_config: z
    .strictObject({ effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish() })
    .optional(),
  diagnostics: z.strictObject({ previous_message_id: z.string().nullish() }).nullish(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
});
export type MessagesRequest = z.output<typeof base>;

const shapes = {
  '2026-10-21': base,
  '2023-06-01': base.extend({
    temperature: z.number().min(0).max(1).optional(),
    top_p: z.number().optional(),
    top_k: z.int().optional(),
  }),
};

/** The versions of the API; temperature, top_p and top_k are gone from the newer one. */
export function isVersion(version: string): version is keyof typeof shapes {
  return Object.hasOwn(shapes, version);
}

/** The request, or what the API says of the first thing wrong with its shape. */
export function parseRequest(
  body: unknown,
  version: keyof typeof shapes,
): Readonly<{ request: MessagesRequest } | { wrong: string }> {
  const parsed = shapes[version].safeParse(body, { reportInput: true });
  if (parsed.success) return { request: parsed.data };
  const [issue] = parsed.error.issues;
  return { wrong: issue === undefined ? 'invalid request' : say(deepest(issue)) };
}

/** Of a union, the alternative that came furthest. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors.flatMap((list) => list.slice(0, 1)).map((found) => deepest(found));
  const best = inner.sort((a, b) => b.path.length - a.path.length)[0];
  return best === undefined ? issue : { ...best, path: [...issue.path, ...best.path] };
}

function say(issue: z.core.$ZodIssue): string {
  const at = (more: readonly PropertyKey[] = []): string => [...issue.path, ...more].map(String).join('.');
  if (issue.code === 'unrecognized_keys')
    return `${at(issue.keys.slice(0, 1))}: Extra inputs are not permitted`;
  if (issue.code === 'invalid_format' && 'pattern' in issue) {
    return `${at()}: String should match pattern '${String(issue.pattern).replace(/^\/|\/$/g, '')}'`;
  }
  if (issue.input === undefined) return `${at()}: Field required`;
  if (issue.code === 'invalid_type') return `${at()}: Input should be a valid ${issue.expected}`;
  return `${at()}: ${issue.message}`;
}
