import { z } from 'zod';
import { namespaceForm } from '../../core/bridge-provider.ts';
import { describeOptions, isZod, type Tool } from './define-tool.ts';
import type { PluginLog } from './tool-context.ts';

/** What a plugin receives when it is loaded. */
export type PluginContext<Config> = Readonly<{
  /** The plugin's `config` from config.toml, checked and with defaults. */
  config: Config;
  bot: Readonly<{
    name: string;
  }>;
  /** Writes to the bot's log. Lines carry the plugin's name, and secrets of the config are redacted. */
  log: PluginLog;
}>;

/** A program behind the capabilities of one namespace (C1, docs/capabilities.md). */
export type CapabilityProvider = Readonly<{
  /** The part before the dot of its capabilities: small letters, digits, `-` and `_`. It must be unique in a bot. */
  namespace: string;
  /** A program and its arguments, started for each call. Build paths from `import.meta.dirname`. */
  command: readonly [program: string, ...rest: string[]];
  /** How many seconds a call may take, from 1 to 300. The default is 30. */
  timeoutSeconds?: number;
}>;

/** What an author writes; see `definePlugin`. */
export type PluginOptions<Config extends z.ZodType = z.ZodType> = Readonly<{
  /**
   * The name in messages and the log: lower-case letters, digits, single `-` and `_`, at most 64. It must be unique in
   * a bot.
   */
  name: string;
  /**
   * Makes the plugin's tools, once when the bot starts. If it throws or takes over 20 seconds, the plugin is not
   * loaded.
   */
  tools(context: PluginContext<z.output<Config>>): readonly Tool[] | Promise<readonly Tool[]>;
  /** A folder of skills, as a path relative to the plugin's own folder. */
  skills?: string;
  /** Checks `config` of the plugin's table in config.toml. Without it, the plugin accepts no config. */
  config?: Config;
  /** Capability providers. `[capabilities.providers.NAMESPACE]` overrides one; `enabled = false` there disables it. */
  capabilities?: readonly CapabilityProvider[];
}>;

/** What `definePlugin` returns and a plugin's file exports as its default. */
export type Plugin = Readonly<{
  kind: 'skillet plugin';
  name: string;
  skills?: string;
  config?: z.ZodType;
  /** The providers with all defaults. Each namespace occurs once. */
  capabilities: readonly Required<CapabilityProvider>[];
  /** Calls the author's `tools`, with a config that `config` has checked. */
  makeTools(context: PluginContext<unknown>): Promise<readonly Tool[]>;
}>;

/**
 * Defines a plugin with tools and skills (X1): the default export of its file. Throws if an option is invalid. The log,
 * `skillet config check` and `/status` report a broken plugin, and the bot starts without it (X6).
 *
 * @example
 * import { definePlugin, defineTool } from 'skillet/plugin';
 * import { z } from 'zod';
 *
 * export default definePlugin({
 *   name: 'greetings',
 *   config: z.object({ greeting: z.string().default('Hello') }),
 *   tools: ({ config }) => [
 *     defineTool({
 *       name: 'greet',
 *       description: 'Greets somebody by name.',
 *       input: z.object({ name: z.string().min(1) }),
 *       sideEffects: false,
 *       run: ({ name }) => `${config.greeting}, ${name}!`,
 *     }),
 *   ],
 * });
 */
export function definePlugin<Config extends z.ZodType = z.ZodType>(options: PluginOptions<Config>): Plugin {
  const { name, tools, skills, config, capabilities = [] } = checked(options);
  return Object.freeze({
    kind: 'skillet plugin' as const,
    name,
    skills,
    config,
    capabilities: capabilities.map((one) => ({ timeoutSeconds: usualSeconds, ...one })),
    makeTools: async (context: PluginContext<unknown>) => tools(context as PluginContext<z.output<Config>>),
  });
}

/** Throws if an option is invalid. A misspelt key is an error, because it would leave something out without notice. */
function checked<Options extends PluginOptions>(options: Options): Options {
  const given: unknown = options;
  const read = shape.safeParse(given);
  const name = namedIn.safeParse(given).data?.name ?? '?';
  if (!read.success)
    throw new Error(
      `the plugin ${name} can't be used: ${describeOptions(read.error, Object.keys(shape.shape))}`,
    );
  return options;
}

const usualSeconds = 30;
const namedIn = z.looseObject({ name: z.string() });
const provider = z.strictObject({
  namespace: z.string().regex(namespaceForm, 'write small letters, digits, "-" and "_"'),
  command: z.tuple([z.string().min(1)], z.string(), 'write a program and its arguments, as a list'),
  timeoutSeconds: z.number().min(1).max(300).optional(),
});
const shape = z.strictObject({
  name: z
    .string()
    .max(64)
    .regex(
      /^[a-z0-9]+([-_][a-z0-9]+)*$/,
      'write lower-case letters, digits and single "-" or "_", 64 at most',
    ),
  tools: z.custom((value) => typeof value === 'function', 'write a function that gives a list of tools'),
  skills: z.string().min(1).optional(),
  config: z.custom(isZod, 'make it with zod 4').optional(),
  capabilities: z
    .array(provider)
    .refine(
      (list) => new Set(list.map(({ namespace }) => namespace)).size === list.length,
      'name each namespace once',
    )
    .optional(),
});
