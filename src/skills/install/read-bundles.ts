import { posix } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../lib/json/json-values.ts';
import type { SourceEntry, SourceSnapshot } from './install-source.ts';

/** The version of Agent Plugins that is read: agent-plugins.org, specification 1.0.0. */
const schemas = 'https://agent-plugins.org/schemas/1.0.0';

/** An MCP server of a bundle. The operator connects it by a section of the config (F12). */
export type BundleServer = Readonly<{
  name: string;
  /** The command with its arguments, or the address. */
  runs: string;
  /** Host of the address; undefined for a program. */
  host?: string | undefined;
  /** Whether it needs a folder of the bundle: that of its files, or that of its data. */
  needsFiles: boolean;
  /** The keys of the section of config.toml that connects it. */
  settings: ServerSettings;
}>;

/** `$NAME` as a whole value is a variable of the bot's environment. */
type ServerSettings = Readonly<{
  bundle?: string;
  command?: string;
  args?: readonly string[];
  url?: string;
  env?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
}>;

/** A package of skills and MCP servers in a source. */
export type Bundle = Readonly<{
  /** Its folder in the source; empty at the top. */
  root: string;
  kind: 'Agent Plugins' | 'Claude Code';
  name: string;
  servers: readonly BundleServer[];
  /** What of it is not read, and why. */
  notes: readonly string[];
  /** Why none of it can be installed. Undefined if it can. */
  refused?: string;
}>;

const texts = z.record(z.string(), z.string());
const pluginName = z.string().regex(/^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$/, {
  error: 'its name is not of 1 to 64 small letters, digits, single hyphens and dots',
});

const agentPlugin = z.looseObject({
  $schema: z.literal(`${schemas}/plugin.schema.json`),
  name: pluginName,
  version: z.string().optional(),
  description: z.string().optional(),
  author: z
    .strictObject({ name: z.string().optional(), email: z.string().optional(), url: z.string().optional() })
    .optional(),
  homepage: z.string().optional(),
  repository: z.string().optional(),
  license: z.string().optional(),
  keywords: z.array(z.string()).optional(),
  extensions: z.unknown().optional(),
});

/** A folder of the bundle, or of its data. */
const insidePath = z
  .string()
  .regex(/^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/)
  .refine((path) => !path.split('/').includes('..'));

const stdio = z.strictObject({
  type: z.literal('stdio'),
  command: z.string().regex(/^(?:\.\/(?!.*(?:^|\/)\.\.(?:\/|$)).+|[^/\\\s]+)$/),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  cwd: insidePath.optional(),
});
const remote = z.strictObject({
  type: z.enum(['streamable-http', 'sse']),
  url: z.string().refine(isEndpoint),
  headers: texts.default({}),
});
const agentServer = z.discriminatedUnion('type', [stdio, remote]);
const agentServers = z.strictObject({
  $schema: z.literal(`${schemas}/mcp.schema.json`),
  mcpServers: z.record(z.string(), z.unknown()),
});

/** Claude Code's form, where `type` may be missing and addresses may hold variables. */
const claudeServer = z.looseObject({
  type: z.string().optional(),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  url: z.string().min(1).optional(),
  headers: texts.default({}),
});
const claudePlugin = z.looseObject({ name: z.string().min(1), mcpServers: z.unknown().optional() });

/** Parts of Claude Code's bundles that this bot has no use for. */
const claudeParts = ['agents', 'commands', 'hooks', 'output-styles', '.lsp.json'];

/** Finds the bundles of a source. Files of other programs that happen to be named `plugin.json` are none (F12). */
export async function readBundles(snapshot: SourceSnapshot): Promise<readonly Bundle[]> {
  const files = new Map(
    snapshot.entries
      .filter(({ kind, problem, size }) => kind === 'file' && problem === undefined && size < 200_000)
      .map((entry) => [entry.path, entry]),
  );
  const read = async (path: string): Promise<unknown> => {
    const entry = files.get(path);
    if (entry === undefined) return undefined;
    const [bytes] = await snapshot.read([entry]);
    return parseJson(bytes?.toString('utf8').replace(/^\uFEFF/, '') ?? '');
  };
  const bundles: Bundle[] = [];
  for (const path of files.keys()) {
    if (posix.basename(path) !== 'plugin.json') continue;
    const folder = posix.dirname(path) === '.' ? '' : posix.dirname(path);
    const data = await read(path);
    const { $schema } = Object(data) as { $schema?: unknown };
    if (typeof $schema === 'string' && $schema.startsWith('https://agent-plugins.org/'))
      bundles.push(await agentBundle(folder, data, read));
    else if (posix.basename(folder) === '.claude-plugin')
      bundles.push(await claudeBundle(above(folder), data, { read, entries: snapshot.entries }));
  }
  // A repository may be a bundle in both forms. The open one is read.
  return bundles.filter(
    ({ kind, root }) =>
      kind === 'Agent Plugins' || !bundles.some((one) => one.kind !== kind && one.root === root),
  );
}

/** Whether a skill in this folder of the source is one of its bundle: `skills/NAME` and no deeper. */
export function belongsTo(bundles: readonly Bundle[], folder: string): boolean {
  return bundles.every(({ kind, root, refused }) => {
    if (root !== '' && folder !== root && !folder.startsWith(`${root}/`)) return true;
    if (refused !== undefined) return false;
    const inside = root === '' ? folder : folder.slice(root.length + 1);
    return kind !== 'Agent Plugins' || /^skills\/[^/]+$/.test(inside);
  });
}

type Read = (path: string) => Promise<unknown>;

async function agentBundle(root: string, data: unknown, read: Read): Promise<Bundle> {
  const parsed = agentPlugin.safeParse(data);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0] ?? { path: [], message: '' };
    const { name, $schema } = Object(data) as { name?: unknown; $schema?: unknown };
    const refused =
      path[0] === '$schema'
        ? `its plugin.json follows ${String($schema)}; ${schemas}/plugin.schema.json is read`
        : `its plugin.json is wrong at ${path.join('.') || 'the top'}: ${message}`;
    return { root, kind: 'Agent Plugins', name: String(name), servers: [], notes: [], refused };
  }
  const unknown = Object.keys(parsed.data).filter((key) => !(key in agentPlugin.shape));
  const { name } = parsed.data;
  const { servers, notes } = await agentServersOf(name, await read(posix.join(root, 'mcp.json')));
  return {
    ...{ root, kind: 'Agent Plugins', name, servers },
    notes: [...unknown.map((key) => `plugin.json: ${key} is unknown, and left out`), ...notes],
  };
}

type Servers = Readonly<{ servers: readonly BundleServer[]; notes: readonly string[] }>;

async function agentServersOf(bundle: string, data: unknown): Promise<Servers> {
  if (data === undefined) return { servers: [], notes: [] };
  const parsed = agentServers.safeParse(data);
  if (!parsed.success)
    return { servers: [], notes: [`mcp.json does not follow ${schemas}/mcp.schema.json: no server is read`] };
  return collect(parsed.data.mcpServers, (name, given) => {
    const server = agentServer.safeParse(given);
    if (!server.success) return 'its entry in mcp.json is wrong';
    const { data: one } = server;
    if (one.type === 'stdio') return programServer(name, one, bundle);
    return one.type === 'sse' ? 'it speaks the old SSE transport' : remoteServer(name, one);
  });
}

async function claudeBundle(
  root: string,
  data: unknown,
  { read, entries }: Readonly<{ read: Read; entries: readonly SourceEntry[] }>,
): Promise<Bundle> {
  const parsed = claudePlugin.safeParse(data);
  const { name, mcpServers: written } = parsed.success
    ? parsed.data
    : { name: posix.basename(root) || 'bundle', mcpServers: undefined };
  const files = ['.mcp.json', ...(typeof written === 'string' ? [written] : [])];
  const inFiles = await Promise.all(files.map((file) => read(posix.join(root, file))));
  // In a file the servers may also be at the top.
  const given = [...inFiles.filter(isTable).map((file) => file['mcpServers'] ?? file), written];
  const { servers, notes } = collect(merged(given.filter(isTable)), (server, value) => {
    const { data: one } = claudeServer.safeParse(value);
    if (one?.command !== undefined) return programServer(server, { ...one, command: one.command }, name);
    if (one?.url === undefined) return 'it has neither command nor url';
    return one.type === 'sse'
      ? 'it speaks the old SSE transport'
      : remoteServer(server, { ...one, url: one.url });
  });
  const unused = claudeParts.filter((part) =>
    entries.some(({ path }) => `${path}/`.startsWith(`${posix.join(root, part)}/`)),
  );
  return {
    ...{ root, kind: 'Claude Code', name, servers },
    notes: [
      ...notes,
      ...(unused.length === 0 ? [] : [`${unused.join(', ')}: only skills and servers are read`]),
    ],
  };
}

/** Reads each server. `read` returns why one is left out. */
function collect(given: object, read: (name: string, value: unknown) => BundleServer | string): Servers {
  const all = Object.entries(given).map(([name, value]) => ({ name, server: read(name, value) }));
  return {
    servers: all.flatMap(({ server }) => (typeof server === 'string' ? [] : [server])),
    notes: all.flatMap(({ name, server }) =>
      typeof server === 'string' ? [`server ${name} is left out: ${server}`] : [],
    ),
  };
}

/** A text is returned if the server leads out of its bundle. */
function programServer(
  name: string,
  {
    command,
    args,
    env,
    cwd,
  }: Readonly<{
    command: string;
    args: readonly string[];
    env: Readonly<Record<string, string>>;
    cwd?: string | undefined;
  }>,
  bundle: string,
): BundleServer | string {
  const all = [command, ...args, ...Object.values(env)].map(here);
  if (all.some((text) => /\$\{PLUGIN_(?:ROOT|DATA)\}.*(?:^|[/\\])\.\.(?:[/\\]|$)/s.test(text)))
    return 'a path of it leads out of the bundle';
  if (cwd !== undefined && !/^(?:\.\/|\$\{PLUGIN_ROOT\}\/?)$/.test(cwd))
    return `it wants to run in ${cwd}, and servers of bundles run in the folder of the bundle`;
  const needsFiles = cwd !== undefined || all.some((text) => /\$\{PLUGIN_(?:ROOT|DATA)\}/.test(text));
  const settings = { command: here(command), args: args.map(here), env: hereIn(env) };
  return {
    ...{ name, needsFiles, runs: [command, ...args].join(' ') },
    settings: needsFiles ? { bundle, ...settings } : settings,
  };
}

function remoteServer(
  name: string,
  { url, headers }: Readonly<{ url: string; headers: Readonly<Record<string, string>> }>,
): BundleServer {
  return {
    ...{ name, needsFiles: false, runs: url, host: URL.parse(url)?.host },
    settings: { url, headers: hereIn(headers) },
  };
}

function hereIn(table: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, here(value)]));
}

/** Text of a server's entry as config.toml has it. A whole value that names a variable is written as `$NAME`. */
function here(text: string): string {
  return text
    .replace(/^\.\//, '${PLUGIN_ROOT}/')
    .replace(/\$\{(?:CLAUDE_)?PLUGIN_(ROOT|DATA)\}/g, '${PLUGIN_$1}')
    .replace(/^\$\{(?!PLUGIN_)([A-Za-z_]\w*)\}$/, '$$$1');
}

function merged(tables: readonly object[]): object {
  return Object.fromEntries(tables.flatMap((table) => Object.entries(table)));
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function above(folder: string): string {
  const parent = posix.dirname(folder);
  return parent === '.' ? '' : parent;
}

function isEndpoint(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
}
