import { z } from 'zod';
import type { ErrorCode } from './codes.ts';
import type { Conversation, SeenChatType, ChatType } from './conversation.ts';
import { fail, type Envelope } from './envelope.ts';
import type { Sender } from './message.ts';
import type { Taint } from './entry.ts';
import { toolSettings, type SettingProblem, type SettingValues, type ToolSettings } from './tool-settings.ts';
import { byteSize, truncate } from '../lib/text/text.ts';
import { escapeLabels } from '../lib/text/escape-labels.ts';

/** What a call may do; its risk follows (T7). */
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

/** For whom and where a turn is done: the subject of every decision. */
export type Requester = Readonly<{
  conversation: Conversation;
  chatType: SeenChatType;
  external: boolean;
  /** Sender id. */
  sender: string;
  /** As of the sender. */
  name?: string;
  /** Decides whether they may still talk (S11). */
  kind: Sender['kind'];
  /** As of the sender (H14). */
  language?: string;
  /** IANA name of their time zone, where it is known. */
  timezone?: string;
  /** In a group, files reply to this message, as texts do. */
  replyTo?: string;
}>;

/**
 * A tool's judgement of one call before policy (T7). `asks`: a person confirms each time; they see `shown`, and a
 * refusal has that code.
 */
export type CallAssessment = Readonly<
  | { refused: Envelope }
  | {
      refused?: undefined;
      /** Absent: that of the tool. */
      risk?: Risk;
      asks?: Readonly<{ shown: unknown; refusedAs: ErrorCode }>;
      /** Its outcome is private: noted before it begins (S7). */
      marks?: Taint | undefined;
      /** Its input reaches a provider, though it needs no network (S7). */
      outward?: boolean;
    }
>;

/** A file for the person (T12). */
export type Artifact = Readonly<{
  /** A path is cut to its last name. */
  name: string;
  /** Absent: told by its first bytes and its name. */
  mime?: string;
  /** Text is written as UTF-8. */
  data: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Markdown that stands with it. */
  caption?: string;
}>;

/** `size` in bytes. */
export type DeliveredFile = Readonly<{ name: string; mime: string; size: number }>;

/** `problem` says for the model why it can't be sent. */
export type DeliveredArtifacts = Readonly<
  ({ ok: true } & DeliveredFile) | { ok: false; code: ErrorCode; problem: string }
>;

/** Once for a call and index, shown together if possible. The first that can't be sent ends it. */
export type DeliverArtifacts = (
  artifacts: readonly Artifact[],
  of: Readonly<{ requester: Requester; turn: string; call: string; index: number }>,
) => Promise<readonly DeliveredArtifacts[]>;

/** What a tool is handed. Nothing global. */
export type ToolContext = Readonly<{
  requester: Requester;
  /** The model's id of this call: unique within its transcript. */
  toolUseId: string;
  /** Its inbox item, with runs behind `!`: keys of what it sends begin with it. */
  turn: string;
  /** Absent: the main agent. */
  run?: Readonly<{ id: string; skill: string }>;
  signal: AbortSignal;
  /** What a person was shown and agreed to. */
  agreed?: unknown;
  /** Of this chat (X3), unchecked; `run` of `defineTool` gets it checked, with defaults. */
  settings: SettingValues;
  /** A few words that a person may see (U13). */
  progress(text: string): void;
  /** The outcome stands for this inbox item's: done once stored. */
  settle(item: string): void;
  /** No outcome before a person answers: the loop ends here (U14). */
  awaitAnswer(question: string): void;
  /** The outcome is private: who learns of it is marked (S7). */
  mark(as: Taint): void;
  /** Delivers a file or photo, and notes it in the result (T12). Durable once resolved. */
  artifact(artifact: Artifact): Promise<DeliveredArtifacts>;
  /** Shown together if possible. The first that can't be sent ends it. */
  artifacts(artifacts: readonly Artifact[]): Promise<readonly DeliveredArtifacts[]>;
}>;

/** For people (X2), not for models. */
export type ToolAbout = Readonly<{
  displayName: string;
  /** An emoji. */
  icon?: string;
  category: string;
  tags: readonly string[];
  version: string;
  /** Not listed, yet callable. */
  hidden: boolean;
}>;

/** A function a model may call. */
export type Tool = Readonly<{
  name: string;
  description: string;
  /** Absent: it is shown by its name. */
  about?: ToolAbout;
  /** Server and hash of what the operator agreed to; absent if nobody else can change it (X7). */
  edition?: string;
  /** JSON Schema, type `object`. */
  inputSchema: Readonly<Record<string, unknown>>;
  traits: Traits;
  /** Declared; absent: worked out from the traits (T7). */
  risk?: Risk;
  /** It labels its output itself; labels in other output are escaped (M11). */
  labelsOutput?: boolean;
  /** Characters for the model; default 30,000 (M3). */
  outputLimit?: number;
  /** The one address that a call asks for, if nothing else leaves (S7). */
  goesTo?(input: unknown): string | undefined;
  /** What people can set (X3). */
  settings?: ToolSettings;
  /** For the model; undefined if valid (T1). */
  check(input: unknown): string | undefined;
  /** Absent: as declared. */
  terms?(
    input: unknown,
    context: Pick<ToolContext, 'requester' | 'toolUseId' | 'signal'>,
  ): Promise<CallAssessment>;
  /** Invalid input is an ARGUMENTS_INVALID envelope (T1). */
  run(input: unknown, context: ToolContext): Promise<Envelope>;
}>;

/** All of a tool but what it does. */
export type ToolDefinition<Input extends z.ZodType, Settings extends z.ZodObject = z.ZodObject> = Readonly<{
  name: string;
  description: string;
  input: Input;
  traits: Traits;
  risk?: Risk;
  /** Described by `.meta({…})` (X3). */
  settings?: Settings;
}>;

type Run<Input extends z.ZodType, Settings extends z.ZodObject> = (
  input: z.output<Input>,
  context: ToolContext & Readonly<{ settings: z.output<Settings> }>,
) => Promise<Envelope>;

/** One zod object is both schema and check. */
export function defineTool<Input extends z.ZodType, Settings extends z.ZodObject = z.ZodObject>(
  definition: ToolDefinition<Input, Settings> & Readonly<{ run: Run<Input, Settings> }>,
): Tool {
  return prepareTool(definition)(definition.run);
}

/** For a tool that is made each turn: schemas are made once. */
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

/** Once for each schema. */
function jsonSchemaOf(input: z.ZodType): Tool['inputSchema'] {
  const known = jsonSchemas.get(input);
  if (known !== undefined) return known;
  const { $schema: _, ...made } = z.toJSONSchema(input, { io: 'input' });
  jsonSchemas.set(input, made);
  return made;
}

function notSet(name: string, problems: readonly SettingProblem[]): string {
  const what = problems.map(({ key, problem }) => (key === undefined ? problem : `${key}: ${problem}`));
  return `${name} is not set up (${what.join('; ')}): an owner can do that in the settings of this chat or under [tools.${name}] in config.toml`;
}

/** Who may use a tool that is not built in (X7). All is required, so that a gap opens nothing. */
export type OutsideAccess = Readonly<{
  chatTypes: readonly ChatType[];
  /** Ids, bare or qualified. */
  users: readonly string[] | 'owners' | 'everybody';
}>;

/** Of a plugin or MCP server. Judged when offered and again at each call. */
export type OutsideTool = Readonly<{
  tool: Tool;
  /** Who brings it, for people: `plugin weather`, `mcp files`. */
  from: string;
  /** For the main agent, too; runs always get it (X1). */
  main: boolean;
  access: OutsideAccess;
}>;

/** Read again for each turn, run and call. Stable order, never waits. */
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
