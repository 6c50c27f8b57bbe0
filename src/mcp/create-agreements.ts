import type Keyv from 'keyv';
import { createInTurn } from '../lib/async/mutex.ts';
import type { Signals } from '../store/signals.ts';
import { agreeTo, takeListing, type Disagreement, type ServerAgreement } from './server-agreement.ts';

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
  const inTurn = createInTurn();

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
