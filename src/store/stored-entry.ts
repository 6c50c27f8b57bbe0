import type Anthropic from '@anthropic-ai/sdk';
import { z } from 'zod';
import type { Entry, ActiveSkill, Taint } from '../core/entry.ts';
import { fallbackCauses, type Share, type Tokens } from '../core/model.ts';
import type { ShownFile } from '../core/received.ts';
import type { DeliveredFile } from '../core/tool.ts';
import type { FieldsOf } from './stored-json.ts';

type EntryOf<Kind extends Entry['kind']> = Extract<Entry, { kind: Kind }>;

const at = z.number();
const text = z.string();
const count = z.int().min(0);
export const storedTokens = z.object({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  cacheWriteHour: z.number().optional(),
  searches: z.number().optional(),
} satisfies FieldsOf<Tokens>);
const shares = z
  .array(
    z.object({
      alias: text,
      tokens: storedTokens,
      cause: z.enum(fallbackCauses).optional(),
    } satisfies FieldsOf<Share>),
  )
  .optional();
/** The taint of something stored, as stores write them (S7). */
export const storedTaint: z.ZodType<Taint | undefined> = z.union([z.string(), z.literal(true)]).optional();
export const storedActiveSkill: z.ZodType<ActiveSkill | undefined> = z
  .object({
    skill: text,
    allowedTools: z.array(text).optional(),
    disallowedTools: z.array(text).optional(),
  } satisfies FieldsOf<ActiveSkill>)
  .optional();

const storedFile = z.object({
  type: z.enum(['image', 'document']),
  hash: text,
  mime: text,
  name: text,
  size: z.number(),
  sender: text.optional(),
} satisfies FieldsOf<ShownFile>);

/** An entry as stores write it. Content blocks stay as the model's API wrote them; only their type is checked. */
export const storedEntry: z.ZodType<Entry> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('user'),
    item: text.optional(),
    sender: text.optional(),
    joins: text.optional(),
    content: z.union([text, z.array(z.custom<Anthropic.ContentBlockParam>(isBlock))]),
    context: text.optional(),
    about: text.optional(),
    unattended: z.literal(true).optional(),
    asked: z.array(z.object({ skill: text, text })).optional(),
    activeSkill: storedActiveSkill,
    answers: z.array(text).optional(),
    urls: z.array(text).optional(),
    files: z.array(storedFile).optional(),
    unread: text.optional(),
    taint: storedTaint,
    at,
  } satisfies FieldsOf<EntryOf<'user'>>),
  z.object({
    kind: z.literal('assistant'),
    content: z.array(z.custom<Anthropic.ContentBlock>(isBlock)),
    stopReason: z.custom<Anthropic.StopReason>((value) => typeof value === 'string'),
    tokens: storedTokens,
    model: text,
    binding: text.optional(),
    server: text.optional(),
    shares,
    at,
  } satisfies FieldsOf<EntryOf<'assistant'>>),
  z.object({
    kind: z.literal('tool_started'),
    toolUseId: text,
    waits: z.literal(true).optional(),
    at,
  } satisfies FieldsOf<EntryOf<'tool_started'>>),
  z.object({
    kind: z.literal('tool_result'),
    toolUseId: text,
    content: text,
    isError: z.boolean(),
    activeSkill: storedActiveSkill,
    artifacts: z
      .array(z.object({ name: text, mime: text, size: z.number() } satisfies FieldsOf<DeliveredFile>))
      .optional(),
    taint: storedTaint,
    steps: count.optional(),
    at,
  } satisfies FieldsOf<EntryOf<'tool_result'>>),
  z.object({ kind: z.literal('notice'), text, at } satisfies FieldsOf<EntryOf<'notice'>>),
  z.object({
    kind: z.literal('taint'),
    taint: z.union([text, z.literal(true)]),
    at,
  } satisfies FieldsOf<EntryOf<'taint'>>),
  z.object({
    kind: z.literal('summary'),
    text,
    kept: count,
    folded: count.optional(),
    senders: z.array(text).optional(),
    own: z.object({ sender: text, text }).optional(),
    taint: storedTaint,
    tokens: storedTokens,
    shares,
    at,
  } satisfies FieldsOf<EntryOf<'summary'>>),
]);

function isBlock(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
