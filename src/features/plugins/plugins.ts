import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BridgeProvider } from '../../core/bridge-provider.ts';
import type { Config } from '../../config/complete-config.ts';
import { checkPluginConfig, checkToolTables } from '../../config/plugin-config.ts';
import { chatTypes } from '../../core/conversation.ts';
import type { Diagnostic } from '../../core/codes.ts';
import type { OutsideSource, Tool as HostTool } from '../../core/tool.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { OpenCall } from './define-tool.ts';
import type { PluginAddress } from './find-plugin.ts';
import type { LoadedPlugin } from './load-plugin.ts';
import { namedLog } from './tool-context.ts';
import type { ToolTable } from '../../core/built-in-tools.ts';

/** The plugins of a config. They are loaded once, at the start (X1). */
export type Plugins = Readonly<{
  loaded: readonly Readonly<{ name: string; tools: readonly string[] }>[];
  /** Absolute paths of the folders of skills that the plugins bring. */
  skillFolders: readonly string[];
  /** Says which plugins were not loaded (X6) and which tool settings are invalid (X3). */
  diagnostics: readonly Diagnostic[];
  /**
   * The plugins' tools. The config is read at each use: plugins that are disabled or removed bring nothing, and `main`,
   * `chat_types` and `users` apply at once.
   */
  source(config: () => Config, open: (plugin: string) => OpenCall): OutsideSource;
  providers(config: Config): readonly BridgeProvider[];
  close(): void;
}>;

type Entry = Config['plugins'][number];

type Loaded = Readonly<{ key: string; plugin: LoadedPlugin }>;

/** Loads `[[plugins]]` in their order. Without any, no plugin code is loaded. */
export async function openPlugins(
  config: Config,
  { builtInTools, clock, log }: Readonly<{ builtInTools: ToolTable; clock: Clock; log: Log }>,
): Promise<Plugins> {
  const listed = config.plugins.filter(({ enabled }) => enabled);
  if (listed.length === 0) return noPlugins;
  const { loadPlugin } = await import('./load-plugin.ts');
  const { openPluginImports } = await import('./plugin-imports.ts');
  const closeImports = openPluginImports();
  const forgive = blamePlugin(listed, log);
  const diagnostics: Diagnostic[] = [];
  const taken = new Map(builtInTools.names().map((name) => [name, 'this bot']));
  const loaded: Loaded[] = [];
  const folder = config.path === undefined ? undefined : path.dirname(config.path);

  for (const [index, entry] of config.plugins.entries()) {
    if (!entry.enabled) continue;
    const outcome = await loadPlugin({
      address: entry,
      folder,
      checkConfig: (schema) => checkPluginConfig(config, index, schema),
      botName: config.bot.name,
      log: (plugin) => namedLog(log, { plugin }),
      clock,
    });
    const whose = `the plugin ${outcome.ok ? outcome.plugin.name : (outcome.name ?? addressOf(entry))}`;
    const faults = outcome.ok ? clashes(outcome.plugin, loaded, taken) : outcome.faults;
    for (const { code, message: why, path: file } of faults)
      diagnostics.push({ level: 'error', code, message: `${whose} is not loaded: ${why}`, path: file });
    if (!outcome.ok || faults.length > 0) continue;
    for (const { name } of outcome.plugin.tools) taken.set(name, whose);
    loaded.push({ key: keyOf(entry), plugin: outcome.plugin });
    const tools = outcome.plugin.tools.map(({ name }) => name);
    log.info({ plugin: outcome.plugin.name, tools }, 'a plugin is loaded');
  }
  const tools = loaded.flatMap(({ plugin }) => plugin.tools.map((tool) => tool.bind(neverCalled)));
  for (const message of checkToolTables(config, tools))
    diagnostics.push({ level: 'error', code: 'TOOL_SETTING_INVALID', message });
  for (const { code, message, path: file } of diagnostics) log.error({ code, path: file }, message);

  return {
    loaded: loaded.map(({ plugin }) => ({ name: plugin.name, tools: plugin.tools.map(({ name }) => name) })),
    skillFolders: loaded.flatMap(({ plugin }) => (plugin.skills === undefined ? [] : [plugin.skills])),
    diagnostics,
    source: (now, open) => toolsOf(loaded, now, open),
    providers: ({ plugins }) => {
      const on = new Set(plugins.filter(({ enabled }) => enabled).map(keyOf));
      return loaded.flatMap(({ key, plugin }) => (on.has(key) ? plugin.providers : []));
    },
    close() {
      forgive();
      closeImports();
    },
  };
}

/** The tools of the plugins that the config still lists. */
function toolsOf(
  loaded: readonly Loaded[],
  config: () => Config,
  open: (plugin: string) => OpenCall,
): OutsideSource {
  const bound = loaded.map(({ key, plugin }) => {
    const openCall = open(plugin.name);
    return { key, name: plugin.name, tools: plugin.tools.map((tool): HostTool => tool.bind(openCall)) };
  });
  return () => {
    const entries = new Map(config().plugins.map((entry) => [keyOf(entry), entry]));
    return bound.flatMap(({ key, name, tools }) => {
      const entry = entries.get(key);
      if (entry?.enabled !== true) return [];
      const access = {
        chatTypes: entry.chatTypes ?? chatTypes,
        users: entry.users ?? 'everybody',
      } as const;
      return tools.map((tool) => ({ tool, from: `plugin ${name}`, main: entry.main, access }));
    });
  };
}

const neverCalled: OpenCall = () => {
  throw new Error('this tool belongs to no bot');
};

const noPlugins: Plugins = {
  loaded: [],
  skillFolders: [],
  diagnostics: [],
  source: () => () => [],
  providers: () => [],
  close: () => undefined,
};

type Clash = Readonly<{ code: string; message: string; path?: string }>;

/** Names of a plugin that others have already (X6). */
function clashes(
  plugin: LoadedPlugin,
  loaded: readonly Readonly<{ plugin: LoadedPlugin }>[],
  taken: ReadonlyMap<string, string>,
): readonly Clash[] {
  const { file, name } = plugin;
  const same = loaded.find((one) => one.plugin.name === name);
  if (same !== undefined)
    return [
      {
        code: 'PLUGIN_NAME_TAKEN',
        message: `${same.plugin.file} is a plugin ${name}, too: keep one of them`,
        path: file,
      },
    ];
  const namespaces = plugin.providers.flatMap(({ namespace }) => {
    const other = loaded.find((one) => one.plugin.providers.some((each) => each.namespace === namespace));
    if (other === undefined) return [];
    const message = `the plugin ${other.plugin.name} brings capabilities ${namespace} already: list one of them only`;
    return [{ code: 'PLUGIN_CAPABILITY_TAKEN', message, path: file }];
  });
  const tools = plugin.tools.flatMap((tool) => {
    const owner = taken.get(tool.name);
    if (owner === undefined) return [];
    return [
      {
        code: 'PLUGIN_TOOL_TAKEN',
        message: `${owner} has a tool ${tool.name} already: give it another name, or list one of them only`,
        path: file,
      },
    ];
  });
  return [...namespaces, ...tools];
}

function addressOf({ path: at, package: name }: Entry): string {
  return at ?? name ?? '';
}

/** Identifies an entry across edits of the config. */
function keyOf({ path: at, package: name }: Entry): string {
  return JSON.stringify([at ?? '', name ?? '']);
}

/**
 * Logs which plugin caused an uncaught error, judged by where the error was created (X6). Returns a function that ends
 * this.
 */
function blamePlugin(plugins: readonly PluginAddress[], log: Log): () => void {
  const tell = (error: unknown): void => {
    const stack = error instanceof Error ? String(error.stack) : '';
    const guilty = plugins.map((plugin) => whereOf(plugin, stack)).find((place) => place !== undefined);
    if (guilty === undefined) return;
    log.error(
      { code: 'PLUGIN_CRASHED', path: guilty.file },
      `the plugin ${guilty.plugin} threw outside of any call, which ends the bot: await its promises and catch its errors there; enabled = false starts the bot without it`,
    );
  };
  process.on('uncaughtExceptionMonitor', tell);
  return () => process.removeListener('uncaughtExceptionMonitor', tell);
}

/** The first line of a stack that is in the plugin's folder. Undefined if there is none. */
function whereOf(
  { path: at, package: name }: PluginAddress,
  stack: string,
): Readonly<{ plugin: string; file: string }> | undefined {
  const plugin = at ?? name ?? '';
  const part = at === undefined ? `/node_modules/${plugin}/` : pathToFileURL(folderOf(at)).href;
  const line = stack.split('\n').find((one) => one.includes(part));
  const file = /file:\/\/[^\s)]+?:\d+/.exec(line ?? '')?.[0];
  return file === undefined ? undefined : { plugin, file };
}

function folderOf(at: string): string {
  return path.extname(at) === '' ? `${at}${path.sep}` : at;
}
