import { z } from 'zod';
import type { FromDirect, Privately, PrivateReply } from '../core/privately.ts';
import { storedProvenance } from '../core/provenance.ts';
import type { MadeWith } from '../core/rating.ts';
import type { Part, PartFile, Receipt } from '../core/channel.ts';
import { chatTypes, type Conversation } from '../core/conversation.ts';
import type { Attachment, MessageCommand, Message, Quote, Sender, Task } from '../core/message.ts';
import type { Plan, WorkStep } from '../core/plan.ts';
import type { ItemPart } from './grow-item.ts';
import { storedActiveSkill, storedTaint } from './stored-entry.ts';
import type { FieldsOf } from './stored-json.ts';

export const storedConversation: z.ZodType<Conversation> = z.object({
  channel: z.string(),
  chat: z.string(),
  thread: z.string().optional(),
} satisfies FieldsOf<Conversation>);

export const storedSender: z.ZodType<Sender> = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['person', 'chat', 'bot', 'guest']),
  language: z.string().optional(),
  timezone: z.string().optional(),
  own: z.literal(true).optional(),
} satisfies FieldsOf<Sender>);

type RunTask = Extract<Task, { kind: 'run' }>;
type ResultTask = Extract<Task, { kind: 'result' }>;
type RoutineTask = Extract<Task, { kind: 'routine' }>;
type HookTask = Extract<Task, { kind: 'hook' }>;

const storedTask: z.ZodType<Task> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('run'),
    id: z.string(),
    skill: z.string(),
    tool: z.string(),
    input: z.record(z.string(), z.unknown()),
    by: z.enum(['person', 'model']),
    parent: z.string(),
    toolUseId: z.string(),
    activeSkills: z.array(z.string()).optional(),
    ofRoutine: z.literal(true).optional(),
  } satisfies FieldsOf<RunTask>),
  z.object({
    kind: z.literal('result'),
    id: z.string(),
    skill: z.string(),
    result: z.string(),
    failed: z.literal(true).optional(),
    activeSkill: storedActiveSkill,
    taint: storedTaint,
    ofRoutine: z.literal(true).optional(),
  } satisfies FieldsOf<ResultTask>),
  z.object({
    kind: z.literal('routine'),
    id: z.string(),
    name: z.string(),
    due: z.number(),
    missed: z.number().optional(),
    skipped: z.number().optional(),
    byHand: z.literal(true).optional(),
    from: storedProvenance.optional(),
    reminder: z.literal(true).optional(),
    quiet: z.literal(true).optional(),
    skill: z.string().optional(),
  } satisfies FieldsOf<RoutineTask>),
  z.object({
    kind: z.literal('hook'),
    id: z.string(),
    name: z.string(),
    prompt: z.string(),
  } satisfies FieldsOf<HookTask>),
]);

const storedAttachments = z.array(
  z.object({
    kind: z.enum(['photo', 'document', 'audio', 'video', 'other']),
    name: z.string(),
    mime: z.string().optional(),
    size: z.number().optional(),
    ref: z.string().optional(),
    missing: z.enum(['deleted', 'hidden']).optional(),
    caption: z.string().optional(),
    transcript: z.object({ text: z.string(), whole: z.boolean() }).optional(),
  } satisfies FieldsOf<Attachment>),
);

const storedQuote = z.object({
  name: z.string(),
  text: z.string(),
  own: z.boolean(),
  relayed: z.literal(true).optional(),
  note: z.string().optional(),
  sender: z.string().optional(),
  attachments: storedAttachments.optional(),
} satisfies FieldsOf<Quote>);

const storedPrivateReply = z.object({
  kind: z.enum(['command', 'press']),
  id: z.string(),
  at: z.number(),
  direct: z
    .object({ conversation: storedConversation, tell: z.string().optional() } satisfies FieldsOf<FromDirect>)
    .optional(),
} satisfies FieldsOf<PrivateReply>);

/** A message as stores write it. Fields that this version does not know are left out. */
export const storedMessage: z.ZodType<Message> = z.object({
  id: z.string(),
  conversation: storedConversation,
  chatType: z.enum([...chatTypes, 'unknown']),
  external: z.boolean(),
  sender: storedSender,
  text: z.string(),
  addressed: z.boolean(),
  command: z
    .object({
      name: z.string(),
      args: z.string(),
      bare: z.boolean().optional(),
    } satisfies FieldsOf<MessageCommand>)
    .optional(),
  attachments: storedAttachments,
  replyTo: storedQuote.optional(),
  shared: z.array(storedQuote).optional(),
  hiddenLinks: z.array(z.string()).optional(),
  ephemeral: z.literal(true).optional(),
  privateReply: storedPrivateReply.optional(),
  edits: z.string().optional(),
  task: storedTask.optional(),
  platformId: z.string().optional(),
  sentAt: z.number(),
} satisfies FieldsOf<Message>);

const itemPart = z.object({ message: storedMessage, glue: z.string() } satisfies FieldsOf<ItemPart>);

export const storedItem: z.ZodType<[ItemPart, ...ItemPart[]]> = z.tuple([itemPart], itemPart);

export const storedStep: z.ZodType<WorkStep> = z.object({
  id: z.string(),
  title: z.string(),
  doing: z.string(),
  state: z.enum(['waiting', 'working', 'apart', 'done', 'failed']),
} satisfies FieldsOf<WorkStep>);

const storedPlan = z.object({
  title: z.string(),
  ended: z.string(),
  steps: z.array(storedStep),
} satisfies FieldsOf<Plan>);

export const storedReceipt: z.ZodType<Receipt> = z.object({
  id: z.string(),
  silent: z.literal(true).optional(),
  plan: storedPlan.optional(),
  onlyTo: z.string().optional(),
} satisfies FieldsOf<Receipt>);

const storedFile = z.object({
  id: z.string(),
  name: z.string(),
  mime: z.string(),
  size: z.number(),
  language: z.string().optional(),
} satisfies FieldsOf<PartFile>);

const storedMade: z.ZodType<MadeWith> = z.object({
  item: z.string(),
  skills: z.array(z.object({ name: z.string(), version: z.string() })),
  model: z.string(),
  tools: z.array(z.string()),
  asked: z.object({ by: z.string(), text: z.string(), from: storedProvenance }).optional(),
} satisfies FieldsOf<MadeWith>);

export const storedPart: z.ZodType<Part> = z.object({
  markdown: z.string(),
  buttons: z
    .array(
      z.union([
        z.object({ label: z.string(), action: z.string() }),
        z.object({ label: z.string(), url: z.string() }),
      ]),
    )
    .optional(),
  replyTo: z.string().optional(),
  onlyTo: z.string().optional(),
  plan: storedPlan.optional(),
  privately: z
    .object({
      at: z.number(),
      reply: storedPrivateReply.optional(),
      neutral: z.string().optional(),
      orNothing: z.literal(true).optional(),
      quiet: z.literal(true).optional(),
      language: z.string().optional(),
    } satisfies FieldsOf<Privately>)
    .optional(),
  from: z.object({ key: z.string().optional(), conversation: storedConversation }).optional(),
  file: storedFile.optional(),
  more: z.array(storedFile).optional(),
  made: storedMade.optional(),
  thumbs: z.object({ up: z.string(), down: z.string() }).optional(),
} satisfies FieldsOf<Part>);
