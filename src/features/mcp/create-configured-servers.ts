import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { OutsideSource, OutsideTool } from '../../core/tool.ts';
import { oneLine } from '../../lib/text/text.ts';
import { raceTimeout } from '../../lib/async/deadline.ts';
import { createEndWithUs } from '../../lib/processes/end-with-us.ts';
import type { ConnectOnce } from './connect-once.ts';
import {
  isOn,
  type Disagreement,
  type ServerAgreement,
  type ToolAgreement,
  type Agreements,
} from './server-agreement.ts';
import { identityOf, mostTools, type McpSettings } from './mcp-settings.ts';
import { mcpToolName, mcpTool, type Converse } from './mcp-tool.ts';
import type { LinkState } from '../../core/server-state.ts';
import { createLastingLink, type ServerLink } from './create-lasting-link.ts';
import { readDefinition, type McpDefinition } from './read-definition.ts';

export type ConfiguredServers = Readonly<{
  /** The servers' tools that are on. Tools of a server that is away stay, and their calls say that it is. */
  tools: OutsideSource;
  /** Starts connecting, without waiting for a server. Tools that were approved before are there at once. */
  start(): Promise<void>;
  /** Resolves when each new server has listed its tools or failed, after 10 s at the latest. */
  seen(): Promise<void>;
  /** Applies a changed config: servers are opened and closed, and rules hold at once. */
  follow(): void;
  states(): Readonly<Record<string, LinkState>>;
  /** What the operator agreed to of a server, as far as this process knows. */
  agreementOf(server: string): ServerAgreement | undefined;
  /** Takes the list of one person's account. Returns the definitions in it that can be used (X8). */
  takeOfPerson(server: string, raw: readonly unknown[]): Promise<readonly McpDefinition[]>;
  stop(): Promise<void>;
}>;

type Running = {
  readonly link: ServerLink;
  /** The settings that the connection was opened with. If they change, a new connection is needed. */
  readonly opened: string;
  /** Where the files of its bundle were, under their hash. */
  readonly files: string | undefined;
  readonly identity: string;
  /** The server's tools by name. Undefined until it has listed them once. */
  listed?: ReadonlyMap<string, McpDefinition>;
  readonly made: Map<string, Readonly<{ of: McpSettings; tool: OutsideTool }>>;
};

const seenMs = 10_000;

type ServerOptions = Readonly<{
  /** Returns `[mcp]` of the config in force. */
  settings: () => Readonly<Record<string, McpSettings>>;
  agreements: Agreements;
  /** Called after a listing with the tools that it turned off. */
  onOff(server: string, off: readonly Disagreement[]): Promise<void>;
  /** Environment and folder for the processes of servers. */
  process: Readonly<{ env: Readonly<Record<string, string | undefined>>; cwd: string }>;
  redact(text: string): string;
  converse: Converse;
  connect?: ConnectOnce;
  /** Where the files of a bundle are that somebody agreed to, under their hash. Undefined: it is not installed. */
  filesOf?(bundle: string): string | undefined;
  clock: Clock;
  log: Log;
}>;

/** Keeps a connection to each configured server. The SDK is loaded only for the first one (B3, B4). */
export function createConfiguredServers(options: ServerOptions): ConfiguredServers {
  const { settings, agreements, clock, log } = options;
  let remembered: ReadonlyMap<string, ServerAgreement> = new Map();
  let started = false;
  const links = createLinks(options, take);
  const { running } = links;

  async function remember(): Promise<void> {
    remembered = await agreements.all();
  }

  const agree = createAgree(options, remember);

  async function take(server: string, identity: string, raw: readonly unknown[]): Promise<void> {
    const tools = await agree(server, raw, { identity });
    const one = running.get(server);
    if (one?.identity === identity) one.listed = new Map(tools.map((tool) => [tool.name, tool]));
  }

  function follow(): void {
    if (started) links.follow(withoutSignIns(settings()));
  }

  const forget = agreements.onAgreed(() => {
    if (started)
      remember().catch((error: unknown) => log.error({ err: error }, 'could not read the approved tools'));
  });

  return {
    tools: createServerTools({ ...options, running, agreementOf: (server) => remembered.get(server) }),
    async start() {
      if (Object.keys(settings()).length > 0) await remember();
      started = true;
      follow();
    },
    async seen() {
      const unseen = [...running].filter(
        ([server, { identity }]) => remembered.get(server)?.identity !== identity,
      );
      const tried = Promise.all(unseen.map(([, { link }]) => link.tried)).then(() => undefined);
      await raceTimeout(clock, tried, seenMs);
    },
    follow,
    agreementOf: (server) => remembered.get(server),
    async takeOfPerson(server, raw) {
      const now = settings()[server];
      return now === undefined ? [] : agree(server, raw, { identity: identityOf(now), ofPerson: true });
    },
    states: () => Object.fromEntries([...running].map(([server, { link }]) => [server, link.state()])),
    async stop() {
      started = false;
      forget();
      await links.close();
    },
  };
}

/** Makes the function that compares a list of tools with what was approved, and stores it. */
function createAgree({ settings, agreements, onOff, log }: ServerOptions, remember: () => Promise<void>) {
  return async function agree(
    server: string,
    raw: readonly unknown[],
    of: Readonly<{ identity: string; ofPerson?: boolean }>,
  ) {
    const tools = distinct(server, readTools(server, raw, log), log);
    const trusted = settings()[server]?.trusted === true;
    await agreements.take(server, { ...of, trusted, tools }, (off) => onOff(server, off));
    await remember();
    return tools;
  };
}

/** Servers to which the bot itself connects. The others have a connection for each person (X8). */
function withoutSignIns(all: Readonly<Record<string, McpSettings>>): Readonly<Record<string, McpSettings>> {
  return Object.fromEntries(Object.entries(all).filter(([, { auth }]) => auth === 'headers'));
}

/** Opens and closes connections as the config changes. `take` receives each list of tools. */
function createLinks(
  { process, redact, clock, log, ...options }: ServerOptions,
  take: (server: string, identity: string, raw: readonly unknown[]) => Promise<void>,
) {
  const running = new Map<string, Running>();
  const closing = new Set<Promise<void>>();
  const endWithUs = createEndWithUs(log);
  const connect: ConnectOnce =
    options.connect ?? (async (...of) => (await import('./connect-once.ts')).connectOnce(...of));

  const filesOf = ({ bundle }: McpSettings): string | undefined =>
    bundle === undefined ? undefined : options.filesOf?.(bundle);

  function open(server: string, config: McpSettings): void {
    const identity = identityOf(config);
    const link = createLastingLink({
      connect: (signal, onListChanged) =>
        connect(config, { ...process, signal, redact, onListChanged, endWithUs, clock }),
      take: (raw) => take(server, identity, raw),
      onState(state, before) {
        if (state.is === 'connected') log.info({ server }, 'an MCP server is connected');
        if (state.is !== 'lost') return;
        const isNews = before.is !== 'lost' || before.why !== state.why;
        const fields = { server, why: oneLine(state.why, 500) };
        log[isNews ? 'warn' : 'debug'](fields, 'an MCP server is away: it is tried again');
      },
      clock,
    });
    running.set(server, {
      ...{ link, identity, made: new Map() },
      ...{ opened: openedWith(config), files: filesOf(config) },
    });
  }

  return {
    running: running as ReadonlyMap<string, Running>,
    follow(wanted: Readonly<Record<string, McpSettings>>): void {
      for (const [server, { link, opened, files }] of running) {
        const now = wanted[server];
        if (now !== undefined && openedWith(now) === opened && filesOf(now) === files) continue;
        running.delete(server);
        const closed = link.close().finally(() => closing.delete(closed));
        closing.add(closed);
      }
      for (const [server, config] of Object.entries(wanted)) if (!running.has(server)) open(server, config);
    },
    async close(): Promise<void> {
      await Promise.all([...closing, ...[...running.values()].map(({ link }) => link.close())]);
      running.clear();
    },
  };
}

/** The tools of all servers that are on. A tool stays the same object as long as nothing about it changes. */
function createServerTools({
  settings,
  running,
  agreementOf,
  converse,
  redact,
}: Pick<ServerOptions, 'settings' | 'redact' | 'converse'> &
  Readonly<{
    running: ReadonlyMap<string, Running>;
    agreementOf(server: string): ServerAgreement | undefined;
  }>): OutsideSource {
  function toolOf(server: string, one: Running, config: McpSettings, definition: McpDefinition): OutsideTool {
    const made = one.made.get(definition.hash + definition.name);
    if (made?.of === config) return made.tool;
    const isSame = ({ name, hash }: McpDefinition): boolean =>
      name === definition.name && hash === definition.hash;
    const tool: OutsideTool = {
      tool: mcpTool({
        server,
        identity: one.identity,
        definition,
        trusted: config.trusted,
        isProcess: config.url === undefined,
        isStill: () => running.get(server) === one && toolsOn(one, agreementOf(server)).some(isSame),
        call: (input, options) => one.link.call(definition.name, input, options),
        converse,
        redact,
      }),
      from: `mcp ${server}`,
      main: config.main,
      access: { chatTypes: config.chatTypes ?? ['private'], users: config.users ?? 'owners' },
    };
    one.made.set(definition.hash + definition.name, { of: config, tool });
    return tool;
  }

  return () =>
    Object.entries(settings())
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([server, config]) => {
        const one = running.get(server);
        if (one === undefined || one.opened !== openedWith(config)) return [];
        return toolsOn(one, agreementOf(server)).map((tool) => toolOf(server, one, config, tool));
      });
}

/** The tools that are on, by the server's own list or otherwise by the last one known. */
function toolsOn(
  { identity, listed }: Running,
  agreement: ServerAgreement | undefined,
): readonly McpDefinition[] {
  if (agreement?.identity !== identity) return [];
  return agreement.tools.flatMap((tool: ToolAgreement) => {
    const seen = listed === undefined ? tool.seen : listed.get(tool.name);
    return seen !== undefined && isOn({ ...tool, seen }) ? [seen] : [];
  });
}

/** The definitions of a listing, without those that can't be used. */
function readTools(server: string, raw: readonly unknown[], log: Log): readonly McpDefinition[] {
  if (raw.length > mostTools)
    log.warn({ server }, `an MCP server has more than ${mostTools} tools: the others are left out`);
  return raw
    .slice(0, mostTools)
    .map(readDefinition)
    .flatMap((read) => {
      if (read.ok) return [read.definition];
      log.warn({ server, tool: read.name }, `a tool of an MCP server is left out: ${read.problem}`);
      return [];
    });
}

/** Of two tools whose names would be equal, only the first is kept. */
function distinct(server: string, tools: readonly McpDefinition[], log: Log): readonly McpDefinition[] {
  const names = new Map<string, string>();
  return tools.filter(({ name }) => {
    const here = mcpToolName(server, name);
    const other = names.get(here);
    if (other === undefined) names.set(here, name);
    else
      log.warn(
        { server, tools: [other, name] },
        `two tools of an MCP server would be ${here}: the second is left out`,
      );
    return other === undefined;
  });
}

/** The settings that need a new connection if they change. Rules and trust are read at each use. */
function openedWith({ command, args, bundle, env, url, headers }: McpSettings): string {
  return JSON.stringify([command, args, bundle, env, url, headers]);
}
