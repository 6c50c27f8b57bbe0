import { z } from 'zod';
import type { ToolRow } from './built-in-tools.ts';
import type { ErrorCode } from './codes.ts';
import type { Conversation, SeenChatType, ChatType } from './conversation.ts';
import { fail, type Envelope } from './envelope.ts';
import type { Sender } from './message.ts';
import type { WorkStep } from './plan.ts';
import type { Taint } from './entry.ts';
import type { ToolCommand } from './tool-command.ts';
import { toolSettings, type SettingProblem, type SettingValues, type ToolSettings } from './tool-settings.ts';
import { byteSize, truncate } from '../lib/text/text.ts';
import { escapeLabels } from '../lib/text/escape-labels.ts';

/** What a tool needs and does, from which its risk follows (T7). */
export type Traits = Readonly<{
  sideEffects: boolean;
  /** True if running it twice has the effect of running it once. */
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

/** Risks from low to high. A tool is `critical` only if it declares so (T7). */
export const risks = ['safe', 'moderate', 'dangerous', 'critical'] as const;
export type Risk = (typeof risks)[number];

/** The person and place that every decision about access is made for. */
export type Requester = Readonly<{
  conversation: Conversation;
  chatType: SeenChatType;
  external: boolean;
  sender: string;
  name?: string;
  /** Decides with the id whether they may still talk, which is checked before each action (S11). */
  kind: Sender['kind'];
  /** BCP 47 tag of the sender's language; undefined if unknown (H14). */
  language?: string;
  timezone?: string;
  /** In groups: platform's id of the message that files reply to. */
  replyTo?: string;
}>;

/**
 * A tool's judgement of one call, made before policy (T7). With `asks` a person sees `shown` and confirms each time;
 * with `byApprover` only an approver or owner can.
 */
export type CallAssessment = Readonly<
  | { refused: Envelope }
  | {
      refused?: undefined;
      risk?: Risk;
      mustConfirm?: Readonly<{
        shown: unknown;
        refusedAs: ErrorCode;
        byApprover?: boolean;
        because?: string;
      }>;
      /** Private data that the call touches; noted before it runs (S7). */
      taint?: Taint | undefined;
      /** The account that the call uses, named as its taint: what came from there may go back there (S7). */
      account?: string;
      /** What a person who is asked about the call should know, such as whose account it uses. */
      because?: string;
      /** True if a provider gets the input, even for a tool that needs no network (S7). */
      outward?: boolean;
    }
>;

/** A file that a tool sends to the person (T12). */
export type Artifact = Readonly<{
  /** Only the last segment of a path is used. */
  name: string;
  /** Undefined: the first bytes and the name decide. */
  mime?: string;
  /** The content; text is sent in UTF-8. */
  data: string | Uint8Array | AsyncIterable<Uint8Array>;
  caption?: string;
}>;

export type DeliveredFile = Readonly<{ name: string; mime: string; size: number }>;

/** What became of a file. `problem` tells the model why it can't be sent. */
export type DeliveredArtifacts = Readonly<
  ({ ok: true } & DeliveredFile) | { ok: false; code: ErrorCode; problem: string }
>;

/** Sends files, together if the platform can, once for each call and index. It stops at the first one that fails. */
export type DeliverArtifacts = (
  artifacts: readonly Artifact[],
  of: Readonly<{ requester: Requester; turn: string; call: string; index: number }>,
) => Promise<readonly DeliveredArtifacts[]>;

export type ToolContext = Readonly<{
  requester: Requester;
  /** The model's id of this call, unique within its transcript. */
  toolUseId: string;
  /** The turn's inbox item, with the ids of runs behind `!`. Keys of what the call stores begin with it. */
  turn: string;
  /**
   * The run that calls; undefined for the main agent. `restricted` names it and the skills around it that not everybody
   * in the chat may use (S16).
   */
  run?: Readonly<{ id: string; skill: string; restricted: readonly string[] }>;
  signal: AbortSignal;
  /** What the person said yes to, if the assessment asked. */
  agreed?: unknown;
  /** The tool's settings in this chat (X3), not checked. `run` of `defineTool` gets them checked and with defaults. */
  settings: SettingValues;
  /** Shows a few words to the person while it works (U13). */
  progress(text: string): void;
  /** Shows a step of a run that the call waits for (U18). */
  step(step: WorkStep): void;
  /** Ends this inbox item, too, once the outcome of the call is stored. */
  settle(item: string): void;
  /** Ends the loop here until a person answers the question (U14). */
  awaitAnswer(question: string): void;
  /** Waits for a person. Until `work` ends, a restart repeats the call, and a skill's time limit pauses (X9). */
  waits<Answer>(work: () => Promise<Answer>): Promise<Answer>;
  /** Declares that the outcome is private (S7). */
  addTaint(as: Taint): void;
  /** Adds model calls that count as the caller's (U7). */
  spend(steps: number): void;
  /** Sends a file or picture (T12). Once it resolves, a crash can't lose it. */
  artifact(artifact: Artifact): Promise<DeliveredArtifacts>;
  artifacts(artifacts: readonly Artifact[]): Promise<readonly DeliveredArtifacts[]>;
}>;

/** How people see the tool (X2). */
type ToolAbout = Readonly<{
  displayName: string;
  icon?: string;
  category: string;
  tags: readonly string[];
  version: string;
  hidden: boolean;
}>;

/** Prefix of the tools of MCP servers. No other tool's name begins with it (X7). */
export const serverToolPrefix = 'mcp_';

/** What a model and the loop around it know of a tool. */
export type ToolSpec = Readonly<{
  name: string;
  description: string;
  /** How people see a built-in tool. Undefined for tools from outside of the bot. */
  row?: ToolRow | undefined;
  inputSchema: Readonly<Record<string, unknown>>;
  traits: Traits;
  /** True if the server of the model makes the calls itself, and the bot only offers the tool (M21). */
  byModel?: boolean;
}>;

export type Tool = ToolSpec &
  Readonly<{
    about?: ToolAbout;
    /** Set if only people start the tool, by this command. No model is offered it. */
    command?: ToolCommand | undefined;
    /** The approved definition: its server and a hash (X7). Undefined for tools that are not of an MCP server. */
    definitionHash?: string;
    /** Undefined: the risk follows from the traits (T7). */
    risk?: Risk;
    /** True if it labels foreign words in its output itself. Otherwise labels in the output are escaped (M11). */
    labelsOutput?: boolean;
    /** Most characters of its output for the model; default 30,000 (M3). */
    outputLimit?: number;
    /** The only address that it contacts for this input; undefined if data may go elsewhere (S7). */
    goesTo?(input: unknown): string | undefined;
    settings?: ToolSettings;
    /** Returns what is wrong with the input, in words for the model; undefined if it is valid (T1). */
    check(input: unknown): string | undefined;
    /** The name of what the input starts, for people: a skill's. Undefined: the tool's title says enough. */
    starts?(input: unknown): string | undefined;
    /** Judges one call before policy: refuse, change its risk, or ask a person. Without it the declared risk holds. */
    assess?(
      input: unknown,
      context: Pick<ToolContext, 'requester' | 'toolUseId' | 'signal'>,
    ): Promise<CallAssessment>;
    /** A hash of the files that this call would read, to which an approval is bound (S16). Undefined if it reads none. */
    reads?(input: unknown): Promise<string | undefined>;
    /** Does `work` with the tool's folders up to date, and stores what changed in them before the result (Q14). */
    within?(work: () => Promise<Envelope>): Promise<Envelope>;
    /** The tool that handles the call, if that depends on the moment. Undefined: this one. */
    now?(): Tool;
    /** Handles the call. Invalid input returns ARGUMENTS_INVALID (T1). */
    run(input: unknown, context: ToolContext): Promise<Envelope>;
  }>;

type ToolDefinition<Input extends z.ZodType, Settings extends z.ZodObject = z.ZodObject> = Readonly<{
  name: string;
  /** Undefined for tools from outside of the bot. */
  row?: ToolRow | undefined;
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

/** Makes the schemas once, for a tool whose `run` changes with each turn. */
export function prepareTool<Input extends z.ZodType, Settings extends z.ZodObject = z.ZodObject>(
  definition: ToolDefinition<Input, Settings>,
): (run: Run<Input, Settings>) => Tool {
  const inputSchema = jsonSchemaOf(definition.input);
  const settings = definition.settings === undefined ? undefined : toolSettings(definition.settings);
  return (run) =>
    Object.freeze({
      name: definition.name,
      description: definition.description,
      row: definition.row,
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

/** zod writes these bounds for every whole number; they tell a model nothing. */
function withoutSafeBounds({ jsonSchema }: Readonly<{ jsonSchema: z.core.JSONSchema.BaseSchema }>): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function notSet(name: string, problems: readonly SettingProblem[]): string {
  const what = problems.map(({ key, problem }) => (key === undefined ? problem : `${key}: ${problem}`));
  return `${name} is not set up (${what.join('; ')}): an owner can do that in the settings of this chat or under [tools.${name}] in config.toml`;
}

/**
 * Who may use a tool that is not built in, and where (X7). Both members are required, so that a gap grants no access.
 */
export type OutsideAccess = Readonly<{
  chatTypes: readonly ChatType[];
  /** Bare or qualified ids, or a word for a group. */
  users: readonly string[] | 'owners' | 'everybody';
}>;

/** A tool of a plugin or MCP server. Its access is judged when it is offered and again at each call. */
export type OutsideTool = Readonly<{
  tool: Tool;
  /** Who brings it, in words for people: `plugin weather`, `mcp files`. */
  from: string;
  /** Whether the main agent gets it; runs always do (X1). */
  main: boolean;
  access: OutsideAccess;
}>;

/** Lists the tools of plugins and MCP servers for each turn, run and call. The order is stable, and it never waits. */
export type OutsideSource = () => readonly OutsideTool[];

/** Names files, types and sizes for a model on one line (T12). */
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
