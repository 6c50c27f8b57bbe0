import { statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { z } from 'zod';
import type { BridgeProvider } from '../../core/bridge-provider.ts';
import type { Clock } from '../../lib/clock.ts';
import { oneLine } from '../../lib/text/text.ts';
import type { Plugin, PluginContext } from './define-plugin.ts';
import type { Tool } from './define-tool.ts';
import { findPlugin, type PluginAddress } from './find-plugin.ts';
import type { PluginLog } from './tool-context.ts';

export type LoadedPlugin = Readonly<{
  name: string;
  /** Absolute path of the plugin's imported file. */
  file: string;
  tools: readonly Tool[];
  /** Absolute path of its folder of skills. Undefined if it brings none. */
  skills?: string;
  /** Its capability providers. Each namespace occurs once. */
  providers: readonly BridgeProvider[];
}>;

/** Why a plugin is not loaded. `message` is one sentence that says how to fix it. */
export type PluginFault = Readonly<{
  code: 'PLUGIN_NOT_FOUND' | 'PLUGIN_BROKEN' | 'PLUGIN_CONFIG_INVALID';
  message: string;
  /** The file at fault. Undefined if none was found. */
  path?: string;
}>;

export type PluginLoading = Readonly<
  { ok: true; plugin: LoadedPlugin } | { ok: false; name?: string; faults: readonly PluginFault[] }
>;

/** Milliseconds that the import may take, and that `tools` may take. */
const patienceMs = 20_000;

/**
 * Imports a plugin and makes its tools (X1, X6). Faults of the plugin are values. Its code runs in the bot's process,
 * with all of the bot's rights.
 */
export async function loadPlugin(options: {
  address: PluginAddress;
  /** The folder of the config file. */
  folder: string | undefined;
  checkConfig(
    schema: z.ZodType | undefined,
  ): Readonly<{ ok: true; value: unknown } | { ok: false; messages: readonly string[] }>;
  botName: string;
  log(plugin: string): PluginLog;
  clock: Clock;
}): Promise<PluginLoading> {
  const { address, folder, checkConfig, botName, log, clock } = options;
  const found = findPlugin(address, folder);
  if (!found.ok) return { ok: false, faults: [{ code: 'PLUGIN_NOT_FOUND', message: found.message }] };
  const { file } = found;
  const broken = (message: string, name?: string): PluginLoading => ({
    ok: false,
    name,
    faults: [{ code: 'PLUGIN_BROKEN', message, path: file }],
  });

  const imported = await settled(import(pathToFileURL(file).href), clock);
  if (imported === 'late') return broken(`it was not loaded within ${patienceMs / 1_000} s`);
  if (!imported.ok) return broken(describeImportFault(imported.error, file));
  const read = shape.safeParse(imported.value);
  if (!read.success) return broken(`${file} is no plugin: write export default definePlugin({ … })`);
  const plugin: Plugin = read.data.default;
  const { name } = plugin;

  const checked = tried(() => checkConfig(plugin.config));
  if (!checked.ok)
    return broken(`its config could not be checked: ${describeImportFault(checked.error, file)}`, name);
  const config = checked.value;
  if (!config.ok) {
    const faults = config.messages.map((message) => ({
      code: 'PLUGIN_CONFIG_INVALID' as const,
      message,
      path: file,
    }));
    return { ok: false, name, faults };
  }
  const skills = plugin.skills === undefined ? undefined : path.resolve(found.folder, plugin.skills);
  if (skills !== undefined && !isFolder(skills))
    return broken(`there is no folder ${skills}, which it names as skills`, name);

  const context: PluginContext<unknown> = { config: config.value, bot: { name: botName }, log: log(name) };
  const made = await settled(plugin.makeTools(context), clock);
  if (made === 'late') return broken(`it did not make its tools within ${patienceMs / 1_000} s`, name);
  if (!made.ok) return broken(describeImportFault(made.error, file), name);
  const tools = readTools(made.value);
  if (typeof tools === 'string') return broken(tools, name);
  return { ok: true, plugin: { name, file, tools, providers: plugin.capabilities, skills } };
}

const aFunction = z.custom((value) => typeof value === 'function');
const shape = z.looseObject({
  default: z.custom<Plugin>(
    (value) =>
      z
        .looseObject({ kind: z.literal('skillet plugin'), name: z.string(), makeTools: aFunction })
        .safeParse(value).success,
  ),
});
const tool = z.custom<Tool>(
  (value) =>
    z.looseObject({ kind: z.literal('skillet tool'), name: z.string(), bind: aFunction }).safeParse(value)
      .success,
);

/** The tools that a plugin made, or a sentence about what is wrong with them. */
function readTools(made: unknown): readonly Tool[] | string {
  const { success, data: tools } = z.array(tool).safeParse(made);
  if (!success)
    return 'its tools are no list of what defineTool gives: write tools: () => [defineTool({ … })]';
  const twice = tools.find((one, index) => tools.findIndex((other) => other.name === one.name) < index);
  return twice === undefined ? tools : `two of its tools are called ${twice.name}`;
}

function isFolder(at: string): boolean {
  try {
    return statSync(at).isDirectory();
  } catch {
    // Whatever the error is, nothing in the folder could be read.
    return false;
  }
}

type Settled<Value> = Readonly<{ ok: true; value: Value } | { ok: false; error: unknown }>;

function tried<Value>(work: () => Value): Settled<Value> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, error };
  }
}

async function settled<Value>(work: Promise<Value>, clock: Clock): Promise<Settled<Value> | 'late'> {
  const over = new AbortController();
  const late = clock.sleep(patienceMs, over.signal).then(
    () => 'late' as const,
    () => 'late' as const,
  );
  const ended = work.then(
    (value): Settled<Value> => ({ ok: true, value }),
    (error: unknown): Settled<Value> => ({ ok: false, error }),
  );
  const first = await Promise.race([ended, late]);
  over.abort();
  return first;
}

/** Tells author and operator what is wrong, where, and how to fix it. */
function describeImportFault(error: unknown, file: string): string {
  if (!(error instanceof Error)) return `it threw ${shownOf(error)} as it was loaded`;
  const at = placeIn(String(error.stack), file);
  const code = 'code' in error ? error.code : undefined;
  const said = String(error.message).split('\n')[0] ?? '';
  switch (code) {
    case 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX':
      return `${at}: ${said}. Node runs TypeScript by leaving the types out, so enum, namespace with code, parameter properties and import = can't be used: write an object, a module, fields and a plain import. "erasableSyntaxOnly": true in tsconfig.json tells it in the editor`;
    case 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING':
      return `${said}. Packages have to bring JavaScript`;
    case 'ERR_MODULE_NOT_FOUND':
      return `${said}: ${/^Cannot find package/.test(said) ? 'install it there with npm install' : 'fix the import; relative ones carry the ending of the file, such as ./weather.ts'}`;
    case 'ERR_INVALID_TYPESCRIPT_SYNTAX':
      return `${at}: syntax error: ${said}`;
    default:
  }
  if (error instanceof SyntaxError) {
    const type = /does not provide an export named '(\w+)'/.exec(said)?.[1];
    const hint = type === undefined ? '' : `. Where ${type} is a type, write import type { ${type} }`;
    return `${at}: syntax error: ${said}${hint}`;
  }
  return `${at}: it threw as it was loaded: ${said || error.name}`;
}

function shownOf(thrown: unknown): string {
  if (typeof thrown === 'string') return JSON.stringify(oneLine(thrown, 200));
  return oneLine(inspect(thrown, { depth: 1, customInspect: false }), 200);
}

/** `FILE:LINE` of a syntax error, or of the first line of the stack in the plugin's file. Otherwise only `file`. */
function placeIn(stack: string, file: string): string {
  const lines = stack.split('\n');
  const own = /^((?:file:\/\/)?\/.+):(\d+)$/.exec(lines[0] ?? '');
  if (own?.[1] !== undefined) return `${pathOf(own[1])}:${own[2]}`;
  const frames = lines.map((line) => /(file:\/\/\/[^)]+|\/[^)]+):(\d+):\d+\)?$/.exec(line));
  const frame = frames.find((one) => one?.[1] !== undefined && pathOf(one[1]) === file);
  return frame?.[2] === undefined ? file : `${file}:${frame[2]}`;
}

function pathOf(address: string): string {
  return address.startsWith('file:') ? fileURLToPath(address) : address;
}
