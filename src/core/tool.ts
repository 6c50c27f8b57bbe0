import { z } from 'zod';
import type { ErrorCode } from './codes.ts';
import type { Conversation, SeenChatType, ChatType } from './conversation.ts';
import { fail, type Envelope } from './envelope.ts';
import type { Sender } from './message.ts';
import type { Taint } from './taint.ts';
import { toolSettings, type SettingProblem, type SettingValues, type ToolSettings } from './tool-settings.ts';
import { byteSize, truncate } from '../lib/text/text.ts';
import { escapeLabels } from '../lib/text/escape-labels.ts';

/** What a call may do to the world; risk is worked out from it (T7). */
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

/** How much harm a call could do (T7). `critical` only where it is declared. */
export const risks = ['safe', 'moderate', 'dangerous', 'critical'] as const;
export type Risk = (typeof risks)[number];

/** For whom a turn is done and where: the subject of every decision in it. */
export type Requester = Readonly<{
  conversation: Conversation;
  chatType: SeenChatType;
  external: boolean;
  /** Sender id. */
  sender: string;
  /** As of the sender. */
  name?: string;
  /** What the sender is: with it is judged whether they may still talk (S11). */
  kind: Sender['kind'];
  /** As of the sender (H14). */
  language?: string;
  /** IANA name of their time zone, where it is known. */
  timezone?: string;
  /** Platform id of the message that is answered: in a group, files reply to it as texts do. */
  replyTo?: string;
}>;

/**
 * What a tool says of one call before policy judges it (T7): that it is refused as it stands, or how much harm this very call
 * could do. With `asks` a person is asked each time, whatever policy allows; they see `shown`, and a refusal carries that code.
 */
export type CallAssessment = Readonly<
  | { refused: Envelope }
  | {
      refused?: undefined;
      /** Absent: that of the tool. */
      risk?: Risk;
      asks?: Readonly<{ shown: unknown; refusedAs: ErrorCode }>;
      /** What it gives is private, whatever comes of it: noted before it begins (S7). */
      marks?: Taint | undefined;
      /** Its input reaches a provider, though the tool itself needs no network (S7). */
      outward?: boolean;
    }
>;

/** A file that a tool hands over for the person (T12). */
export type Artifact = Readonly<{
  /** What the person sees it called; a path is cut to its last name. */
  name: string;
  /** Absent: told by its first bytes and its name. */
  mime?: string;
  /** Text is written as UTF-8. */
  data: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Markdown that stands with it. */
  caption?: string;
}>;

/** A file that is on its way to the conversation. `size` in bytes. */
export type DeliveredFile = Readonly<{ name: string; mime: string; size: number }>;

/** `problem` says for the model why it can't be sent. */
export type DeliveredArtifacts = Readonly<
  ({ ok: true } & DeliveredFile) | { ok: false; code: ErrorCode; problem: string }
>;

/**
 * Puts files on their way, once for a call and index however often it is made; shown together where the platform can.
 * The first that can't be sent ends it: its problem is the last outcome.
 */
export type DeliverArtifacts = (
  artifacts: readonly Artifact[],
  of: Readonly<{ requester: Requester; turn: string; call: string; index: number }>,
) => Promise<readonly DeliveredArtifacts[]>;

/** What a tool is handed. Nothing global. */
export type ToolContext = Readonly<{
  requester: Requester;
  /** The model's id of this call: unique within its transcript. */
  toolUseId: string;
  /** The inbox item that it is done for, and behind `!` the runs in it: what is sent of it begins with this. */
  turn: string;
  /** The run that makes the call; absent where it is the main agent. */
  run?: Readonly<{ id: string; skill: string }>;
  signal: AbortSignal;
  /** What a person was shown and agreed to, where the call's terms asked for that. */
  agreed?: unknown;
  /** What is set of this tool in this chat (X3): `run` of `defineTool` gets it checked, defaults filled in. */
  settings: SettingValues;
  /** Says in a few words what is going on; a person may see it (U13). */
  progress(text: string): void;
  /** Says that this call's outcome is what an inbox item would have told: that item is done when the outcome is stored. */
  settle(item: string): void;
  /** Says that this call has no outcome before a person has answered `question`: the loop ends there, for now (U14). */
  awaitAnswer(question: string): void;
  /** Says that the outcome holds what a sensitive skill or a capability gave: who is told it is marked from then on (S7). */
  mark(as: Taint): void;
  /** Delivers a file to this conversation, or a picture as a photo, and notes it in the result (T12). The bytes are safe when it resolves. */
  artifact(artifact: Artifact): Promise<DeliveredArtifacts>;
  /** The same for several files, shown together where the platform can. The first that can't be sent ends it. */
  artifacts(artifacts: readonly Artifact[]): Promise<readonly DeliveredArtifacts[]>;
}>;

/** How a tool is shown to people (X2). No model reads it. */
export type ToolAbout = Readonly<{
  displayName: string;
  /** An emoji. */
  icon?: string;
  category: string;
  tags: readonly string[];
  version: string;
  /** Not listed for people; it can be called like any other. */
  hidden: boolean;
}>;

/** A function a model may call. */
export type Tool = Readonly<{
  name: string;
  description: string;
  /** Absent: it is shown by its name. */
  about?: ToolAbout;
  /** Which server's it is and how it was described when the operator agreed; absent where nobody else can change it (X7). */
  edition?: string;
  /** JSON Schema, type `object`. */
  inputSchema: Readonly<Record<string, unknown>>;
  traits: Traits;
  /** Declared; absent: worked out from the traits (T7). */
  risk?: Risk;
  /** Its output stands in labels that it made itself; in any other output labels are made harmless (M11). */
  labelsOutput?: boolean;
  /** Characters of its output that reach the model; 30,000 where absent (M3). */
  outputLimit?: number;
  /** The one address that a call with this input asks for, where nothing else of the input leaves (S7). */
  goesTo?(input: unknown): string | undefined;
  /** What people can set of it; absent where that is nothing (X3). */
  settings?: ToolSettings;
  /** What is wrong with an input, for the model to act on; undefined if `run` would take it (T1). */
  check(input: unknown): string | undefined;
  /** Judges one call of a valid input; absent: every call is as the tool is declared. */
  terms?(
    input: unknown,
    context: Pick<ToolContext, 'requester' | 'toolUseId' | 'signal'>,
  ): Promise<CallAssessment>;
  /** Validates, then runs. A failed validation is an ARGUMENTS_INVALID envelope that the model can act on (T1). */
  run(input: unknown, context: ToolContext): Promise<Envelope>;
}>;

/** All of a tool but what it does. */
export type ToolDefinition<Input extends z.ZodType, Settings extends z.ZodObject = z.ZodObject> = Readonly<{
  name: string;
  description: string;
  input: Input;
  traits: Traits;
  risk?: Risk;
  /** A zod object, a field for each setting, described by `.meta({…})` (X3): see `toolSettings`. */
  settings?: Settings;
}>;

/** What a tool does; `context.settings` are the output of its settings' schema. */
type Run<Input extends z.ZodType, Settings extends z.ZodObject> = (
  input: z.output<Input>,
  context: ToolContext & Readonly<{ settings: z.output<Settings> }>,
) => Promise<Envelope>;

/** Makes a tool from a zod object: the schema the model sees and the check of what it sends are one. */
export function defineTool<Input extends z.ZodType, Settings extends z.ZodObject = z.ZodObject>(
  definition: ToolDefinition<Input, Settings> & Readonly<{ run: Run<Input, Settings> }>,
): Tool {
  return prepareTool(definition)(definition.run);
}

/** The same for a tool that does something else each turn: the schemas are made once. */
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

/** Of one zod schema it is made once: tools that are made again each turn share theirs. */
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

/** For whom a tool that is not built in is, and where (X7). Nothing is left out, so that nothing missing opens it. */
export type OutsideAccess = Readonly<{
  chatTypes: readonly ChatType[];
  /** Sender ids, bare or qualified; `owners` as they are at the time. */
  users: readonly string[] | 'owners' | 'everybody';
}>;

/** A tool that a plugin or an MCP server brings. Its access is judged when it is offered and again at each call. */
export type OutsideTool = Readonly<{
  tool: Tool;
  /** Who brings it, for people: `plugin weather`, `mcp files`. */
  from: string;
  /** Whether the main agent gets it; runs get it in any case (X1). */
  main: boolean;
  access: OutsideAccess;
}>;

/** What is brought by now, read again for each turn, run and call. The order is stable; it waits for nothing. */
export type OutsideSource = () => readonly OutsideTool[];

/** Delivered files as a model reads of them: names, types and sizes on one line; empty where there are none (T12). */
export function describeDelivered(files: readonly DeliveredFile[]): string {
  if (files.length === 0) return '';
  const each = files.map(({ name, mime, size }) => `${name} (${mime}, ${byteSize(size)})`);
  return `[delivered to the conversation: ${each.join(', ')}]`;
}

/** A text cut to size, and behind that what was delivered. */
export function withDelivered(text: string, artifacts: readonly DeliveredFile[], limit: number): string {
  const note = escapeLabels(describeDelivered(artifacts));
  if (note === '') return truncate(text, limit).text;
  return `${truncate(text, Math.max(0, limit - note.length - 1)).text}\n${note}`;
}
