import { z } from 'zod';
import { effortLevels } from '../core/claude-models.ts';
import { fallbackCauses, type FallbackCause } from '../core/model.ts';
import { httpUrl, section } from './section.ts';

const price = z.number().min(0).optional();

/** Prices are US dollars per million tokens. */
const alias = section({
  model: z.string().min(1).optional(),
  /** The API of its server (M17). Default: `anthropic`, or that of `default` where the endpoint is taken from there. */
  api: z.enum(['anthropic', 'openai', 'bedrock', 'vertex']).optional(),
  base_url: httpUrl.optional(),
  api_key: z.string().min(1).optional(),
  /** Of Bedrock and Vertex. Default: what the environment says. */
  region: z.string().min(1).optional(),
  /** Of Vertex: the project that pays. */
  project: z.string().min(1).optional(),
  max_tokens: z.int().min(1).optional(),
  context_window: z.int().min(1000).optional(),
  vision: z.boolean().optional(),
  thinking: z
    .union([z.enum(['off', 'adaptive', 'between_tools']), z.int().min(1024)], {
      error: 'write "off", "adaptive", "between_tools" or a number of tokens from 1024 up',
    })
    .optional(),
  effort: z.enum(effortLevels).optional(),
  cache: z.enum(['auto', '5m', '1h']).optional(),
  tool_search: z.enum(['auto', 'model', 'own', 'off']).optional(),
  price_in: price,
  price_out: price,
  price_cache_read: price,
  price_cache_write: price,
});
type Alias = z.output<typeof alias>;
/** `[models]` as the file has it, without built-in aliases. */
export type WrittenModels = Fallbacks & { aliases: Record<string, Alias> };
type Fallbacks = { fallback?: string[] | undefined; fallbackOn?: FallbackCause[] | undefined };

const fallbacks = {
  /** One name is a list of one. */
  fallback: z
    .codec(z.union([z.string().min(1), z.array(z.string().min(1))]), z.array(z.string()), {
      decode: (names) => (typeof names === 'string' ? [names] : names),
      encode: (names) => names,
    })
    .optional(),
  fallback_on: z.array(z.enum(fallbackCauses)).optional(),
};

/** `[models]`: aliases (M1), and `fallback` for when a model gives no answer (M4, M18). */
export const modelsSection = z.codec(z.object(fallbacks).catchall(alias), z.custom<WrittenModels>(), {
  decode: ({ fallback, fallback_on: fallbackOn, ...aliases }) => ({ fallback, fallbackOn, aliases }),
  encode: ({ aliases, fallbackOn, ...rest }) =>
    ({ ...rest, fallback_on: fallbackOn, ...aliases }) as Record<string, Alias> & Fallbacks,
});

export const agentSection = section({
  model: z.string().min(1).default('default'),
  max_turns: z.int().min(1).default(25),
  /** Undefined: the usual ones (T2). */
  tools: z.array(z.string().min(1)).optional(),
  concurrency: z.int().min(1).default(8),
  detach_after_seconds: z.int().min(1).default(60),
  background_messages: z.int().min(0).default(20),
  persona: z.string().default(''),
});

/** `[prompt]`: how the system prompt lists skills (P1–P4). */
export const promptSection = section({
  skills_format: z.enum(['markdown', 'xml']).default('markdown'),
  skills_budget_chars: z.int().min(0).optional(),
  include_location: z.boolean().default(false),
});

/** One `[agents.NAME]`: a profile for runs (U11). */
export const agentProfile = section({
  prompt: z.string().optional(),
  tools: z.array(z.string().min(1)).optional(),
  model: z.string().min(1).optional(),
});
