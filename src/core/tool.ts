import { z } from 'zod';
import type { ErrorCode } from './codes.ts';
import type { Conversation, SeenChatType, ChatType } from './conversation.ts';
import { fail, type Envelope } from './envelope.ts';
import type { Sender } from './message.ts';
import type { Taint } from './entry.ts';
import { toolSettings, type SettingProblem, type SettingValues, type ToolSettings } from './tool-settings.ts';
import { byteSize, truncate } from '../lib/text/text.ts';
import { escapeLabels } from '../lib/text/escape-labels.ts';

/** The risk follows from these (T7). */
export type Traits = Readonly<{
  sideEffects: boolean;
  /** Running it twice is running it once. */
  idempotent: boolean;
  requiresNetwork: boolean;
  requiresFilesystem: boolean;
}>;

export const readOnly: Traits = {
  sideEffects: false,
  idempotent: true,
  requiresNetwork: false,
  requiresFilesystem: false,
};

/** `critical` only if declared (T7). */
export const risks = ['safe', 'moderate', 'dangerous', 'critical'] as const;
export type Risk = (typeof risks)[number];

/** The subject of every decision. */
export type Requester = Readonly<{
  conversation: Conversation;
  chatType: SeenChatType;
  external: boolean;
  sender: string;
  name?: string;
  /** May they still talk (S11)? */
  kind: Sender['kind'];
  /** As of the sender (H14). */
  language?: string;
  timezone?: string;
  /** In groups, files reply to this message. */
  replyTo?: string;
}>;

/** Before policy (T7). `asks`: a person sees `shown` and confirms each time; `byApprover`: only an approver or owner can. */
export type CallAssessment = Readonly<
  | { refused: Envelope }
  | {
      refused?: undefined;
      risk?: Risk;
      asks?: Readonly<{ shown: unknown; refusedAs: ErrorCode; byApprover?: boolean; because?: string }>;
      /** Private; noted before it runs (S7). */
      marks?: Taint | undefined;
      /** A provider gets the input, even without network (S7). */
      outward?: boolean;
    }
>;

/** A file for the person (T12). */
export type Artifact = Readonly<{
  /** Cut to its last segment. */
  name: string;
  /** Absent: told by its first bytes and its name. */
  mime?: string;
  /** Text becomes UTF-8. */
  data: string | Uint8Array | AsyncIterable<Uint8Array>;
  caption?: string;
}>;

export type DeliveredFile = Readonly<{ name: string; mime: string; size: number }>;

/** `problem` says for the model why it can't be sent. */
export type DeliveredArtifacts = Readonly<
  ({ ok: true } & DeliveredFile) | { ok: false; code: ErrorCode; problem: string }
>;

/** Once for a call and index, shown together if possible; stops at the first that fails. */
export type DeliverArtifacts = (
  artifacts: readonly Artifact[],
  of: Readonly<{ requester: Requester; turn: string; call: string; index: number }>,
) => Promise<readonly DeliveredArtifacts[]>;

export type ToolContext = Readonly<{
  requester: Requester;
  /** The model's id of this call: unique within its transcript. */
  toolUseId: string;
  /** Its inbox item, with runs behind `!`: prefix of keys. */
  turn: string;
  /** `restricted`: it and the skills around it that not everybody in the chat may use (S16). */
  run?: Readonly<{ id: string; skill: string; restricted: readonly string[] }>;
  signal: AbortSignal;
  agreed?: unknown;
  /** Of this chat (X3), unchecked; `run` of `defineTool` gets them checked, with defaults. */
  settings: SettingValues;
  /** A few words that a person may see (U13). */
  progress(text: string): void;
  /** The outcome stands for this inbox item's: done once stored. */
  settle(item: string): void;
  /** The loop ends here until a person answers (U14). */
  awaitAnswer(question: string): void;
  /** The outcome is private (S7). */
  mark(as: Taint): void;
  /** Model calls that count as the caller's (U7). */
  spend(steps: number): void;
  /** Sends a file or photo (T12). Durable once resolved. */
  artifact(artifact: Artifact): Promise<DeliveredArtifacts>;
  artifacts(artifacts: readonly Artifact[]): Promise<readonly DeliveredArtifacts[]>;
}>;

/** For people (X2). */
type ToolAbout = Readonly<{
  displayName: string;
  icon?: string;
  category: string;
  tags: readonly string[];
  version: string;
  hidden: boolean;
}>;

export type Tool = Readonly<{
  name: string;
  description: string;
  about?: ToolAbout;
  /** Server, and hash of the approved tool (X7). */
  edition?: string;
  inputSchema: Readonly<Record<string, unknown>>;
  traits: Traits;
  /** Default: from the traits (T7). */
  risk?: Risk;
  /** Labels its output itself; others' labels are escaped (M11). */
  labelsOutput?: boolean;
  /** Characters for the model; default 30,000 (M3). */
  outputLimit?: number;
  /** The only address it contacts, if nothing else leaves (S7). */
  goesTo?(input: unknown): string | undefined;
  settings?: ToolSettings;
  /** For the model; undefined if valid (T1). */
  check(input: unknown): string | undefined;
  /** Default: as declared. */
  terms?(
    input: unknown,
    context: Pick<ToolContext, 'requester' | 'toolUseId' | 'signal'>,
  ): Promise<CallAssessment>;
  /** A hash of the files that this call would read, which an approval is bound to (S16). Undefined if it reads none. */
  reads?(input: unknown): Promise<string | undefined>;
  /** Brings its folders up to date, and stores what changed before the result (Q14). */
  within?(work: () => Promise<Envelope>): Promise<Envelope>;
  /** The tool that does the call, where that depends on the moment. Undefined: this one. */
  now?(): Tool;
  /** Invalid input returns ARGUMENTS_INVALID (T1). */
  run(input: unknown, context: ToolContext): Promise<Envelope>;
}>;

type ToolDefinition<Input extends z.ZodType, Settings extends z.ZodObject = z.ZodObject> = Readonly<{
  name: string;
  description: string;
  input: Input;
  traits: Traits;
  risk?: Risk;
  settings?: Settings;
}>;

type Run<Input extends z.ZodType, Settings extends z.ZodObject> = (
  input: z.output<Input>,
  context: ToolContext & Readonly<{ settings: z.output<Settings> }>,
) => Promise<Envelope>;

export function defineTool<Input extends z.ZodType, Settings extends z.ZodObject = z.ZodObject>(
  definition: ToolDefinition<Input, Settings> & Readonly<{ run: Run<Input, Settings> }>,
): Tool {
  return prepareTool(definition)(definition.run);
}

/** For tools made each turn: makes schemas once. */
export function prepareTool<Input extends z.ZodType, Settings extends z.ZodObject = z.ZodObject>(
  definition: ToolDefinition<Input, Settings>,
): (run: Run<Input, Settings>) => Tool {
  const inputSchema = jsonSchemaOf(definition.input);
  const settings = definition.settings === undefined ? undefined : toolSettings(definition.settings);
  return (run) =>
    Object.freeze({
      name: definition.name,
      description: definition.description,
      inputSchema,
      traits: definition.traits,
      risk: definition.risk,
      settings,
      check(input: unknown) {
        const parsed = definition.input.safeParse(input);
        return parsed.success ? undefined : z.prettifyError(parsed.error);
      },
      async run(input: unknown, context: ToolContext) {
        const parsed = definition.input.safeParse(input);
        if (!parsed.success) return fail('ARGUMENTS_INVALID', z.prettifyError(parsed.error));
        const set = settings?.resolve(context.settings) ?? { ok: true, values: {} };
        if (!set.ok) return fail('TOOL_FAILED', notSet(definition.name, set.problems));
        return run(parsed.data, { ...context, settings: set.values as z.output<Settings> });
      },
    });
}

const jsonSchemas = new WeakMap<z.ZodType, Tool['inputSchema']>();

function jsonSchemaOf(input: z.ZodType): Tool['inputSchema'] {
  const known = jsonSchemas.get(input);
  if (known !== undefined) return known;
  const { $schema: _, ...made } = z.toJSONSchema(input, { io: 'input', override: withoutSafeBounds });
  jsonSchemas.set(input, made);
  return made;
}

/** Every whole number has these bounds, which tell a model nothing. */
function withoutSafeBounds({ jsonSchema }: Readonly<{ jsonSchema: z.core.JSONSchema.BaseSchema }>): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function notSet(name: string, problems: readonly SettingProblem[]): string {
  const what = problems.map(({ key, problem }) => (key === undefined ? problem : `${key}: ${problem}`));
  return `${name} is not set up (${what.join('; ')}): an owner can do that in the settings of this chat or under [tools.${name}] in config.toml`;
}

/** Of a tool that is not built in (X7). All required, so that no gap grants access. */
export type OutsideAccess = Readonly<{
  chatTypes: readonly ChatType[];
  /** Bare or qualified. */
  users: readonly string[] | 'owners' | 'everybody';
}>;

/** Judged when offered and at each call. */
export type OutsideTool = Readonly<{
  tool: Tool;
  /** Who brings it, for people: `plugin weather`, `mcp files`. */
  from: string;
  /** Runs always get it (X1). */
  main: boolean;
  access: OutsideAccess;
}>;

/** Read for each turn, run and call. Stable order, never waits. */
export type OutsideSource = () => readonly OutsideTool[];

/** For a model: names, types and sizes on one line (T12). */
export function describeDelivered(files: readonly DeliveredFile[]): string {
  if (files.length === 0) return '';
  const each = files.map(({ name, mime, size }) => `${name} (${mime}, ${byteSize(size)})`);
  return `[delivered to the conversation: ${each.join(', ')}]`;
}

export function withDelivered(text: string, artifacts: readonly DeliveredFile[], limit: number): string {
  const note = escapeLabels(describeDelivered(artifacts));
  if (note === '') return truncate(text, limit).text;
  return `${truncate(text, Math.max(0, limit - note.length - 1)).text}\n${note}`;
}
