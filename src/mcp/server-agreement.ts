import type Keyv from 'keyv';
import { createMutex } from '../lib/async/mutex.ts';
import type { McpDefinition } from './read-definition.ts';
import type { Signals } from '../store/signals.ts';

/** One tool of a server, as the operator agreed to it and as the server describes it now. */
export type ToolAgreement = Readonly<{
  name: string;
  /** Absent: it came later than the server, and nobody agreed to it yet. */
  agreed?: McpDefinition;
  /** Absent: the server does not have it now. */
  seen?: McpDefinition;
}>;

/** What is remembered of a server, over restarts. `identity`: which server it was. */
export type ServerAgreement = Readonly<{ identity: string; tools: readonly ToolAgreement[] }>;

/** A tool that is off until the operator agrees. `hash`: of what it is now. */
export type Disagreement = Readonly<{ tool: string; why: 'changed' | 'new'; hash: string }>;

/** Agreed tools that are remembered while their server does not have them. */
const absentLimit = 500;

/**
 * What is remembered after a server showed its list (X7). The first list with anything in it is agreed to: naming the server
 * in config was the operator's act. After that a tool that changed is off, and so is one that came later, unless the server
 * is trusted. `told`: what was on, or not there, when the last list came, and is off now.
 */
export function takeListing(
  agreement: ServerAgreement | undefined,
  listing: Readonly<{ identity: string; trusted: boolean; tools: readonly McpDefinition[] }>,
): Readonly<{ agreement: ServerAgreement; told: readonly Disagreement[] }> {
  const { identity, trusted } = listing;
  const known = agreement?.identity === identity ? agreement.tools : [];
  const before = new Map(known.map((tool) => [tool.name, tool] as const));
  const agreesToAll = trusted || known.length === 0;
  const there = listing.tools.map((seen): ToolAgreement => {
    const agreed = before.get(seen.name)?.agreed ?? (agreesToAll ? seen : undefined);
    return { name: seen.name, agreed, seen };
  });
  const names = new Set(there.map(({ name }) => name));
  const absent = known.flatMap(({ name, agreed }): readonly ToolAgreement[] =>
    agreed === undefined || names.has(name) ? [] : [{ name, agreed }],
  );
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

/** Whether a tool may be used: the server has it, and it is what was agreed to. */
export function isOn({ agreed, seen }: ToolAgreement): boolean {
  return seen !== undefined && agreed?.hash === seen.hash;
}

/** The same with these tools agreed to as they are seen; a tool that is not seen with that hash any more is left as it was. */
export function agreeTo(
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

/** What the operator agreed to of each MCP server, in the store: it outlives restarts, and all processes share it (X7, Q9). */
export type Agreements = Readonly<{
  /** By the server's name in config. */
  all(): Promise<ReadonlyMap<string, ServerAgreement>>;
  /** Takes a server's list in. `tell` gets what is off since then, before that is remembered: told twice rather than never. */
  take(
    server: string,
    listing: Listing,
    tell: (off: readonly Disagreement[]) => Promise<void>,
  ): Promise<void>;
  /** Agrees to tools as they were shown, by their hash; gives the names of those that still are so. Every process hears of it. */
  agree(
    server: string,
    tools: readonly Readonly<{ name: string; hash: string }>[],
  ): Promise<readonly string[]>;
  /** Told when another process, or the command line, may have changed something. Gives what ends it. */
  onAgreed(listener: () => void): () => void;
}>;

/** `stored`: of the namespace `mcp`. */
export function createAgreements(options: { stored: Keyv; signals: Signals }): Agreements {
  const { stored, signals } = options;
  // So that neither loses what the other wrote.
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
