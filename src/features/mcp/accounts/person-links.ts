import type { Clock } from '../../../lib/clock.ts';
import { createDeadline } from '../../../lib/async/deadline.ts';
import type { McpConnection } from '../connect-once.ts';
import { callWithin, type LinkCalled, type LinkOptions } from '../create-lasting-link.ts';
import type { McpSettings } from '../mcp-settings.ts';
import type { McpDefinition } from '../read-definition.ts';
import type { AccountOf } from './account-book.ts';
import { SignInNeeded, type Challenge } from './sign-in-needed.ts';

type Call = Readonly<{ tool: string; hash: string; input: Readonly<Record<string, unknown>> }>;

export type PersonLinks = Readonly<{
  /** Calls a tool with the account of its subject. `sign-in`: the server wants one, and nothing was done. */
  call(
    of: Of,
    call: Call,
    options: LinkOptions,
  ): Promise<LinkCalled | Readonly<{ kind: 'sign-in'; challenge: Challenge }>>;
  /** Lists the tools with this account, so that the operator's agreement knows them. */
  look(of: Of, signal: AbortSignal): Promise<void>;
  /** Ends connections of this subject, of this server, or all. */
  end(of?: Partial<AccountOf>): Promise<void>;
}>;

/** How long a connection stays open without a call, in milliseconds. */
const idleMs = 10 * 60_000;
const connectMs = 60_000;
/** How many connections there are at once. For one more, the one that was idle for longest ends. */
const most = 50;

type Link = {
  readonly of: AccountOf;
  readonly url: string;
  readonly connection: McpConnection;
  tools: ReadonlyMap<string, string>;
  /** The server said that its list changed. It is read before the next call, however often the server says so. */
  changed: boolean;
  calls: number;
  idle: AbortController;
};

type LinkDeps = Readonly<{
  connect(of: Of, options: Readonly<{ signal: AbortSignal; onListChanged(): void }>): Promise<McpConnection>;
  /** Receives each list, and returns the definitions that can be used. */
  take(server: string, settings: McpSettings, raw: readonly unknown[]): Promise<readonly McpDefinition[]>;
  clock: Clock;
}>;

type Of = AccountOf & Readonly<{ settings: McpSettings }>;

const keyOf = ({ server, subject }: AccountOf): string => JSON.stringify([server, subject]);

/**
 * Connections of people to servers, one for each person and server (X8). Nothing of one is ever used for another: no
 * connection, session or list. They open with the first call and end when they are idle.
 */
export function createPersonLinks(deps: LinkDeps): PersonLinks {
  const { clock } = deps;
  const { open, drop, use, done } = createOpenLinks(deps);

  return {
    async call(of, { tool, hash, input }, options) {
      for (let again = true; ; again = false) {
        let link: Link;
        try {
          link = await use(of, options.signal);
        } catch (error) {
          options.signal.throwIfAborted();
          if (error instanceof SignInNeeded) return { kind: 'sign-in', challenge: error.challenge };
          return { kind: 'unreached', message: error instanceof Error ? error.message : String(error) };
        }
        try {
          if (!options.mayCall() || link.tools.get(tool) !== hash) return { kind: 'off' };
          const called = await callWithin(link.connection, { tool, input }, options, clock);
          if (called.kind !== 'unreached' || !again) return called;
          await drop(keyOf(of), link);
        } catch (error) {
          if (!(error instanceof SignInNeeded)) throw error;
          return { kind: 'sign-in', challenge: error.challenge };
        } finally {
          done(keyOf(of), link);
        }
      }
    },
    async look(of, signal) {
      done(keyOf(of), await use(of, signal));
    },
    async end({ subject, server } = {}) {
      const meant = [...open].filter(
        ([, { of }]) => (subject ?? of.subject) === of.subject && (server ?? of.server) === of.server,
      );
      await Promise.all(meant.map(([key, link]) => drop(key, link)));
    },
  };
}

/** The open connections by person and server. */
function createOpenLinks(deps: LinkDeps) {
  const { take, clock } = deps;
  const links = new Map<string, Promise<Link>>();
  const open = new Map<string, Link>();

  async function list(link: Link, settings: McpSettings, signal: AbortSignal): Promise<void> {
    link.changed = false;
    const tools = await take(link.of.server, settings, await link.connection.list(signal));
    link.tools = new Map(tools.map(({ name, hash }) => [name, hash]));
  }

  function drop(key: string, link: Link | undefined): Promise<void> {
    if (open.get(key) === link) {
      open.delete(key);
      links.delete(key);
    }
    link?.idle.abort();
    return link?.connection.close().catch(() => undefined) ?? Promise.resolve();
  }

  const begin = createBegin(deps, { links, open, list, drop });

  /** The connection of this subject. It counts as used until `done`. */
  async function use(of: Of, signal: AbortSignal): Promise<Link> {
    const key = keyOf(of);
    const known = open.get(key);
    if (known !== undefined && known.url !== of.settings.url) await drop(key, known);
    const made = links.get(key) ?? begin(key, of);
    links.set(key, made);
    const link = await made;
    link.idle.abort();
    link.calls += 1;
    // The last one used is the last of the map.
    if (open.delete(key)) open.set(key, link);
    try {
      if (link.changed) await list(link, of.settings, signal);
    } catch (error) {
      done(key, link);
      throw error;
    }
    return link;
  }

  function done(key: string, link: Link): void {
    link.calls -= 1;
    if (link.calls > 0) return;
    link.idle = new AbortController();
    clock.sleep(idleMs, link.idle.signal).then(
      () => drop(key, link),
      () => undefined,
    );
  }

  return { open, drop, use, done };
}

type Links = Readonly<{
  links: Map<string, Promise<Link>>;
  open: Map<string, Link>;
  list(link: Link, settings: McpSettings, signal: AbortSignal): Promise<void>;
  drop(key: string, link: Link | undefined): Promise<void>;
}>;

/** Makes the function that opens a connection and lists its tools. */
function createBegin({ connect, clock }: LinkDeps, { links, open, list, drop }: Links) {
  return async function begin(key: string, of: Of): Promise<Link> {
    const over = createDeadline(clock);
    over.start(connectMs);
    const noted = { changed: false };
    let connection: McpConnection | undefined;
    try {
      const onListChanged = (): void => {
        noted.changed = true;
        const link = open.get(key);
        if (link !== undefined) link.changed = true;
      };
      connection = await connect(of, { signal: over.signal, onListChanged });
      const { subject, server } = of;
      const link: Link = {
        ...{ of: { subject, server }, url: of.settings.url ?? '', connection },
        ...{ tools: new Map(), changed: false, calls: 0, idle: new AbortController() },
      };
      await list(link, of.settings, over.signal);
      open.set(key, link);
      void connection.closed.then(() => drop(key, link));
      if (open.size > most) {
        const [spare] = [...open].filter(([, { calls }]) => calls === 0);
        if (spare !== undefined && spare[1] !== link) void drop(...spare);
      }
      return link;
    } catch (error) {
      links.delete(key);
      await connection?.close();
      throw over.signal.aborted
        ? new Error(`it did not answer within ${connectMs / 1_000} s`, { cause: error })
        : error;
    } finally {
      over.end();
    }
  };
}
