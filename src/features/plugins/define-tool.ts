import { z } from 'zod';
import { fail } from '../../core/envelope.ts';
import { toolSettings } from '../../core/tool-settings.ts';
import {
  prepareTool,
  risks,
  type Artifact,
  type Risk,
  type Tool as HostTool,
  type ToolContext as HostContext,
} from '../../core/tool.ts';
import { nearest } from '../../lib/text/text.ts';
import { fromJsonSchema, type JsonSchema } from './from-json-schema.ts';
import { answerOf } from './tool-answer.ts';
import type { ToolContext } from './tool-context.ts';
import { serverToolPrefix } from '../../core/tool.ts';
import { untilAborted } from '../../lib/async/on-abort.ts';

/** What `run` may return: text, data that the model gets as JSON, or nothing. */
export type ToolData = string | number | boolean | object | null | undefined | void;

/** Files for the person, with optional data for the model. */
export type WithArtifacts<Data = ToolData> = Readonly<{ artifacts: readonly Artifact[]; data?: Data }>;

/** What an author writes; see `defineTool`. */
export type ToolOptions<
  Input extends z.ZodObject | JsonSchema = z.ZodObject,
  Output extends z.ZodType | JsonSchema = z.ZodType<ToolData, ToolData>,
  Settings extends z.ZodObject = z.ZodObject,
> = Readonly<{
  /** The tool's name for models and operators: lower-case letters, digits and `_`, at most 64, a letter first. */
  name: string;
  /** Tells the model what the tool does and when to use it. */
  description: string;
  /**
   * What the model passes. It sees the fields' `.describe()`. A plain JSON Schema `{ type: 'object', properties }` also
   * works.
   */
  input: Input;
  /** Checks what `run` returns (`data` if there are artifacts). A mismatch counts as an error of the tool. */
  output?: Output;
  /** What people can set: one field for each setting, described by `.meta({…})` (X3). */
  settings?: Settings;
  /** True if the tool changes something outside the bot. The default is true. */
  sideEffects?: boolean;
  /** True if a call can be repeated after a crash. By default only tools without side effects can. */
  idempotent?: boolean;
  /** True if the tool needs the network. The default is false. */
  requiresNetwork?: boolean;
  /** True if it reads or writes files outside its workspace. The default is false. */
  requiresFilesystem?: boolean;
  /**
   * How much harm a call could do, for `[policy]`. By default (`auto`) it is `dangerous` with side effects and network
   * or file system, `moderate` with side effects only, and otherwise `safe`.
   */
  risk?: Risk | 'auto';
  /** The tool's name for people. By default `get_weather` becomes `Get Weather`. */
  displayName?: string;
  /** An emoji that stands before the tool's name. */
  icon?: string;
  /** Groups tools in lists. The default is `general`. */
  category?: string;
  tags?: readonly string[];
  /** The tool's version. The default is `0.1.0`. */
  version?: string;
  /** True if `/tools` does not list it, although it can be called. The default is false. */
  hidden?: boolean;
  /**
   * Does the work on checked `input`. The model reads the message of a thrown error, so say what to do. Once
   * `context.signal` aborts (after 15 minutes at the latest), the result is ignored.
   */
  run(
    input: Checked<Input>,
    context: ToolContext<z.output<Settings>>,
  ): Answer<Returned<Output>> | Promise<Answer<Returned<Output>>>;
}>;

type Checked<Input> = Input extends z.ZodType ? z.output<Input> : Readonly<Record<string, unknown>>;
type Returned<Output> = Output extends z.ZodType ? z.input<Output> : ToolData;

type Answer<Data> = Data | WithArtifacts<Data>;

export type OpenCall = (
  tool: string,
  context: HostContext,
) => Promise<
  Readonly<{
    context: Omit<ToolContext, 'settings' | 'signal' | 'progress'>;
    /** Aborts when a call has taken its time. */
    over: AbortSignal;
    /** Releases what was taken for the call. */
    close(): Promise<void>;
  }>
>;

/** A tool of a plugin, as `defineTool` returns it. */
export type Tool = Readonly<{
  kind: 'skillet tool';
  name: string;
  bind(open: OpenCall): HostTool;
}>;

/**
 * Defines a tool (X2). Throws if an option is invalid, so the plugin is not loaded.
 *
 * @example
 * import { defineTool } from 'skillet/plugin';
 * import { z } from 'zod';
 *
 * export const roll = defineTool({
 *   name: 'roll_dice',
 *   description: 'Rolls dice and gives the sum.',
 *   input: z.object({ dice: z.int().min(1).max(100).describe('How many dice.') }),
 *   output: z.object({ sum: z.int() }),
 *   settings: z.object({ sides: z.int().min(2).max(100).default(6).meta({ title: 'Sides' }) }),
 *   sideEffects: false,
 *   icon: '🎲',
 *   run: ({ dice }, { settings }) => {
 *     const one = () => 1 + Math.floor(Math.random() * settings.sides);
 *     return { sum: Array.from({ length: dice }, one).reduce((a, b) => a + b, 0) };
 *   },
 * });
 */
export function defineTool<
  Input extends z.ZodObject | JsonSchema,
  Output extends z.ZodType | JsonSchema = z.ZodType<ToolData, ToolData>,
  Settings extends z.ZodObject = z.ZodObject,
>(options: ToolOptions<Input, Output, Settings>): Tool {
  const { name, description, settings, run, risk, sideEffects = true } = options;
  const { input, output } = checked(options);
  const about = {
    displayName: options.displayName ?? titleOf(name),
    icon: options.icon,
    category: options.category ?? 'general',
    tags: options.tags ?? [],
    version: options.version ?? '0.1.0',
    hidden: options.hidden ?? false,
  };
  const make = prepareTool({
    name,
    description,
    input,
    traits: {
      sideEffects,
      idempotent: options.idempotent ?? !sideEffects,
      requiresNetwork: options.requiresNetwork ?? false,
      requiresFilesystem: options.requiresFilesystem ?? false,
    },
    risk: risk === undefined || risk === 'auto' ? undefined : risk,
    settings,
  });
  return Object.freeze({
    kind: 'skillet tool' as const,
    name,
    bind: (open: OpenCall) => ({
      ...make(async (value, host) => {
        const call = await open(name, host);
        const { progress } = host;
        const signal = AbortSignal.any([host.signal, call.over]);
        const own = host.settings as z.output<Settings>;
        try {
          const work = async () =>
            run(value as Checked<Input>, { ...call.context, settings: own, signal, progress });
          const answer = await untilAborted(work(), signal);
          return await answerOf(name, answer, output, host.artifacts);
        } catch (error) {
          if (host.signal.aborted || !call.over.aborted) throw error;
          return fail('TIMEOUT', `${name} took too long and was given up: what it did is not known`);
        } finally {
          await call.close();
        }
      }),
      about,
    }),
  });
}

function checked(options: unknown): Readonly<{ input: z.ZodType; output?: z.ZodType }> {
  const read = shape.safeParse(options);
  const name = namedIn.safeParse(options).data?.name ?? '?';
  if (!read.success)
    throw new Error(
      `the tool ${name} can't be used: ${describeOptions(read.error, Object.keys(shape.shape))}`,
    );
  const { input, output, settings } = read.data;
  try {
    const schemas = {
      input: isZod(input) ? input : fromJsonSchema(input, 'input'),
      output: output === undefined || isZod(output) ? output : fromJsonSchema(output, 'output'),
    };
    z.toJSONSchema(schemas.input, { io: 'input' });
    if (settings !== undefined) toolSettings(settings);
    return schemas;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`the tool ${name} can't be used: ${why}`, { cause: error });
  }
}

const namedIn = z.looseObject({ name: z.string() });
const isObject = (value: unknown): boolean => isZod(value) && value._zod.def.type === 'object';
const isPlain = (value: unknown): value is JsonSchema =>
  typeof (value as Partial<JsonSchema> | null | undefined)?.type === 'string';
const zodObject = z.custom<z.ZodObject>(isObject, 'make it with z.object of zod 4');
const shape = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/, 'write lower-case letters, digits and _, 64 at most, a letter first')
    .refine((name) => !name.startsWith(serverToolPrefix), 'mcp_ is for tools of MCP servers'),
  description: z.string().trim().min(1, 'say what it does and when to use it').max(4_000),
  input: z.custom<z.ZodObject | JsonSchema>(
    (value) => (isZod(value) ? isObject(value) : isPlain(value) && value.type === 'object'),
    "make it with z.object of zod 4, or write a JSON Schema of type 'object'",
  ),
  output: z
    .custom<z.ZodType | JsonSchema>(
      (value) => isZod(value) || isPlain(value),
      'make it with zod 4, or write a JSON Schema',
    )
    .optional(),
  settings: zodObject.optional(),
  sideEffects: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  requiresNetwork: z.boolean().optional(),
  requiresFilesystem: z.boolean().optional(),
  risk: z.enum([...risks, 'auto']).optional(),
  displayName: z.string().trim().min(1).max(60).optional(),
  icon: z.string().min(1).max(16).optional(),
  category: z.string().trim().min(1).max(40).optional(),
  tags: z.array(z.string().trim().min(1).max(40)).max(20).optional(),
  version: z.string().min(1).max(40).optional(),
  hidden: z.boolean().optional(),
  run: z.custom((value) => typeof value === 'function', 'write a function'),
});

function titleOf(name: string): string {
  const words = name.split('_').filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}

/** Whether zod 4 made a value: the bot's copy of it or the plugin's. */
export function isZod(value: unknown): value is z.ZodType {
  return typeof value === 'object' && value !== null && '_zod' in value;
}

/** All problems with their fixes, on one line. `known` are the valid options. */
export function describeOptions({ issues }: z.ZodError, known: readonly string[]): string {
  return issues
    .flatMap((issue) => {
      if (issue.code === 'unrecognized_keys' && issue.path.length === 0)
        return issue.keys.map((key) => unknownOption(key, known));
      return [issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`];
    })
    .join('; ');
}

function unknownOption(key: string, known: readonly string[]): string {
  const [guess] = nearest(key, known);
  return `${key} is no option: ${guess === undefined ? 'remove it' : `did you mean ${guess}?`}`;
}
