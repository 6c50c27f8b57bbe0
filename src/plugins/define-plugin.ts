import { z } from 'zod';
import { namespaceForm } from '../capabilities/bridge-contract.ts';
import { describeOptions, isZod, type Tool } from './define-tool.ts';
import type { PluginLog } from './tool-context.ts';

/** What a plugin is handed when it is loaded. Nothing global. */
export type PluginContext<Config> = Readonly<{
  /** The plugin's `config` of config.toml, checked by its schema, defaults filled in. */
  config: Config;
  bot: Readonly<{
    /** `[bot] name`. */
    name: string;
  }>;
  /** Lines carry the plugin's name; secrets of the config are taken out of them. */
  log: PluginLog;
}>;

/** A program behind capabilities of one namespace (C1, docs/capabilities.md). */
export type CapabilityProvider = Readonly<{
  /** What stands before the dot of its capabilities: small letters, digits, `-` and `_`. No two plugins of a bot share one. */
  namespace: string;
  /** A program and its arguments, started for each call. Paths are best made from `import.meta.dirname`. */
  command: readonly [program: string, ...rest: string[]];
  /** 1 to 300; 30 where absent. */
  timeoutSeconds?: number;
}>;

/** What an author writes: see `definePlugin`. */
export type PluginOptions<Config extends z.ZodType = z.ZodType> = Readonly<{
  /** What messages and log lines call it: lower-case letters, digits, single `-` and `_`, 64 at most. No two plugins of a bot share one. */
  name: string;
  /**
   * Makes its tools, once, when the bot starts. What it throws keeps the plugin from being loaded, as does taking longer
   * than 20 seconds.
   */
  tools(context: PluginContext<z.output<Config>>): readonly Tool[] | Promise<readonly Tool[]>;
  /** A folder of skills (each a folder with a `SKILL.md`), relative to the plugin's own. */
  skills?: string;
  /** Checks `config` of the plugin's table in config.toml. Without it the plugin takes no config. */
  config?: Config;
  /**
   * Providers of capabilities. `[capabilities.providers.NAMESPACE]` of config.toml goes over them, `enabled = false` there
   * switches one off.
   */
  capabilities?: readonly CapabilityProvider[];
}>;

/** A plugin, ready to be loaded: what `definePlugin` gives and a plugin's file exports by default. */
export type Plugin = Readonly<{
  kind: 'skillet plugin';
  name: string;
  skills?: string;
  config?: z.ZodType;
  /** A namespace once. */
  capabilities: readonly Required<CapabilityProvider>[];
  /** With a config that `config` has checked. */
  makeTools(context: PluginContext<unknown>): Promise<readonly Tool[]>;
}>;

/**
 * Defines a plugin: tools, and skills that come with them (X1). A plugin's file has it as its default export. Throws, naming
 * the plugin, where an option can't be used. What is wrong with a plugin is told in the log, by `skillet config check` and to
 * owners by `/status`, and the bot starts without it (X6).
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
    makeTools: async (context: PluginContext<unknown>) =>
      // Checked by this very schema.
      tools(context as PluginContext<z.output<Config>>),
  });
}

/** The options, as far as the author's types could not see to them: a key that is misspelt would leave something out. */
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
