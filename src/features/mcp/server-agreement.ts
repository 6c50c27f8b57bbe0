import type Keyv from 'keyv';
import type { Audit } from '../../audit/create-audit.ts';
import { OperatorError } from '../../core/errors.ts';
import { createMutex } from '../../lib/async/mutex.ts';
import type { LinkState } from '../../core/server-state.ts';
import { definitionHash, mcpToolName } from './mcp-tool.ts';
import type { McpDefinition } from './read-definition.ts';
import type { Signals } from '../../store/signals.ts';
import { skilletHere } from '../../core/skillet-here.ts';

export type ToolAgreement = Readonly<{
  name: string;
  /** What was approved. Undefined: the tool is new, and not approved yet. */
  agreed?: McpDefinition;
  /** What the server offers now. Undefined: it lacks the tool now. */
  seen?: McpDefinition;
}>;

export type ServerAgreement = Readonly<{ identity: string; tools: readonly ToolAgreement[] }>;

/** A tool that is off until the operator approves it. */
export type Disagreement = Readonly<{ tool: string; why: 'changed' | 'new'; hash: string }>;

/** How many approved tools are kept that the server lacks now. */
const absentLimit = 500;

/**
 * Compares a list of tools with what was approved. The first list that is not empty counts as approved, because the
 * operator configured the server (X7). Later, tools that changed or are new are off unless the server is trusted.
 * `told` lists what this listing turned off.
 */
export function takeListing(
  agreement: ServerAgreement | undefined,
  listing: Readonly<{
    identity: string;
    trusted: boolean;
    tools: readonly McpDefinition[];
    /**
     * True if it is the list of one person's account (X8). Others may see other tools, so what it lacks stays, and what
     * another account saw changed stays so until the operator decides.
     */
    ofPerson?: boolean;
  }>,
): Readonly<{ agreement: ServerAgreement; told: readonly Disagreement[] }> {
  const { identity, trusted, ofPerson = false } = listing;
  const known = agreement?.identity === identity ? agreement.tools : [];
  const before = new Map(known.map((tool) => [tool.name, tool] as const));
  const agreesToAll = trusted || known.length === 0;
  const there = listing.tools.map((seen): ToolAgreement => {
    const agreed = before.get(seen.name)?.agreed ?? (agreesToAll ? seen : undefined);
    const was = before.get(seen.name)?.seen;
    const isOld = ofPerson && was !== undefined && seen.hash === agreed?.hash;
    return { name: seen.name, agreed, seen: isOld ? was : seen };
  });
  const names = new Set(there.map(({ name }) => name));
  const absent = known.flatMap((tool): readonly ToolAgreement[] => {
    const { name, agreed } = tool;
    if (names.has(name)) return [];
    if (ofPerson) return [tool];
    return agreed === undefined ? [] : [{ name, agreed }];
  });
  const tools = [...there, ...absent.slice(0, absentLimit)].sort((a, b) => (a.name < b.name ? -1 : 1));
  const told = there.flatMap((tool): readonly Disagreement[] => {
    const was = before.get(tool.name);
    const wasOff = was?.seen !== undefined && !isOn(was);
    if (tool.seen === undefined || isOn(tool) || wasOff) return [];
    const why = tool.agreed === undefined ? 'new' : 'changed';
    return [{ tool: tool.name, why, hash: tool.seen.hash }];
  });
  return { agreement: { identity, tools }, told };
}

export function isOn({ agreed, seen }: ToolAgreement): boolean {
  return seen !== undefined && agreed?.hash === seen.hash;
}

/** Approves tools. A tool whose hash is not the given one stays as it was. */
function agreeTo(
  agreement: ServerAgreement,
  agreed: readonly Readonly<{ name: string; hash: string }>[],
): Readonly<{ agreement: ServerAgreement; done: readonly string[] }> {
  const meant = (tool: ToolAgreement): boolean =>
    agreed.some(({ name, hash }) => name === tool.name && tool.seen?.hash === hash);
  const tools = agreement.tools.map((tool) =>
    meant(tool) && tool.seen !== undefined ? { ...tool, agreed: tool.seen } : tool,
  );
  return { agreement: { ...agreement, tools }, done: agreement.tools.filter(meant).map(({ name }) => name) };
}

type Listing = Parameters<typeof takeListing>[1];

/** What was approved, stored for all processes (X7, Q9). */
export type Agreements = Readonly<{
  /** All approvals, by the server's name in the config. */
  all(): Promise<ReadonlyMap<string, ServerAgreement>>;
  /** Stores a listing. `tell` runs before that, so that owners are rather told twice than never. */
  take(
    server: string,
    listing: Listing,
    tell: (off: readonly Disagreement[]) => Promise<void>,
  ): Promise<void>;
  /** Approves tools and notifies every process. Returns the names of those whose hash still matches. */
  agree(
    server: string,
    tools: readonly Readonly<{ name: string; hash: string }>[],
  ): Promise<readonly string[]>;
  /**
   * Calls `listener` when another process or the command line may have changed something. Returns a function that ends
   * this.
   */
  onAgreed(listener: () => void): () => void;
}>;

/** `stored` is the store's namespace `mcp`. */
export function createAgreements(options: { stored: Keyv; signals: Signals }): Agreements {
  const { stored, signals } = options;
  // One change after the other, so that none overwrites what another wrote.
  const inTurn = createMutex();

  return {
    async all() {
      const found: [string, ServerAgreement][] = [];
      for await (const [key, value] of stored.iterator()) found.push([String(key), value as ServerAgreement]);
      return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    take: (server, listing, tell) =>
      inTurn(async () => {
        const before = await stored.get<ServerAgreement>(server);
        const { agreement, told } = takeListing(before, listing);
        if (told.length > 0) await tell(told);
        if (JSON.stringify(agreement) !== JSON.stringify(before)) await stored.set(server, agreement);
      }),
    agree: (server, tools) =>
      inTurn(async () => {
        const before = await stored.get<ServerAgreement>(server);
        if (before === undefined) return [];
        const { agreement, done } = agreeTo(before, tools);
        await stored.set(server, agreement);
        await signals.send('mcp', server);
        return done;
      }),
    onAgreed: (listener) => signals.on('mcp', listener),
  };
}

export type ListedServer = ServerAgreement &
  Readonly<{
    name: string;
    /** The connection's state. Undefined if no bot runs or the config lacks the server. */
    state?: LinkState;
  }>;

/** What the command line can do about MCP servers (X7). */
export type McpOperations = Readonly<{
  /** Servers that were seen or are configured, by name. */
  list(): Promise<readonly ListedServer[]>;
  /** Approves tools. `hash` is that of the definition that was shown. */
  agree(
    shown: Readonly<{ server: string; tools: readonly Readonly<{ name: string; hash: string }>[] }>,
  ): Promise<Readonly<{ server: string; tools: readonly string[] }>>;
  /** Hashes of the definitions of tools that are on, by name; see `Tool`. */
  definitionHashes(): Promise<ReadonlyMap<string, string>>;
}>;

export function createMcpOperations(options: {
  agreements: Agreements;
  states(): Readonly<Record<string, LinkState>>;
  redact(text: string): string;
  audit: Audit;
}): McpOperations {
  const { agreements, states, redact, audit } = options;
  return {
    async list() {
      const seen = await agreements.all();
      const now = new Map(Object.entries(states()));
      return [...new Set([...seen.keys(), ...now.keys()])].sort().map((name) => {
        const state = now.get(name);
        const told = state?.is === 'lost' ? { ...state, why: redact(state.why) } : state;
        const of = seen.get(name) ?? { identity: '', tools: [] };
        return { name, ...of, state: told };
      });
    },
    async agree({ server, tools }) {
      const done = await agreements.agree(server, tools);
      if (done.length < tools.length)
        throw new OperatorError(
          `${tools.length - done.length} of ${tools.length} tools of ${server} changed since they were shown: see \`${skilletHere()} mcp list\``,
        );
      await audit.record({ event: 'mcp_agreed', server, tools: done });
      return { server, tools: done };
    },
    async definitionHashes() {
      const servers = [...(await agreements.all())];
      return new Map(
        servers.flatMap(([server, { identity, tools }]) =>
          tools.flatMap((tool) =>
            tool.seen === undefined || !isOn(tool)
              ? []
              : [[mcpToolName(server, tool.name), definitionHash(identity, tool.seen)] as const],
          ),
        ),
      );
    },
  };
}
