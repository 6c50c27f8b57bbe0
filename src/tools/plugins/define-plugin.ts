import type { z } from 'zod';
import type { Tool } from './define-tool.ts';
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
  /** What messages and log lines call it: lower-case letters, digits and hyphens, 64 at most. No two plugins of a bot share one. */
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
  capabilities: readonly CapabilityProvider[];
  /** With a config that `config` has checked. */
  makeTools(context: PluginContext<unknown>): Promise<readonly Tool[]>;
}>;

/**
 * Defines a plugin: tools, and skills that come with them (X1). A plugin's file has it as its default export. Nothing is
 * checked before the bot loads the plugin: then what is wrong with it is told in the log, by `skillet config check` and
 * to owners by `/status`, and the bot starts without it (X6).
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
  const { name, tools, skills, config, capabilities = [] } = options;
  return Object.freeze({
    kind: 'skillet plugin' as const,
    name,
    ...(skills === undefined ? {} : { skills }),
    ...(config === undefined ? {} : { config }),
    capabilities,
    makeTools: async (context: PluginContext<unknown>) =>
      // Checked by this very schema.
      tools(context as PluginContext<z.output<Config>>),
  });
}
