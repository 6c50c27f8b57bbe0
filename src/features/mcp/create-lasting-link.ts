import type { LinkState } from '../../core/server-state.ts';
import type { Clock } from '../../lib/clock.ts';
import { createDeadline, raceTimeout } from '../../lib/async/deadline.ts';
import type { Called, McpConnection } from './connect-once.ts';
import type { InputAnswers } from './input-needed.ts';
import { untilAborted } from '../../lib/async/on-abort.ts';

type Entered = Readonly<{ is: 'connected' }> | Readonly<{ is: 'lost'; why: string }>;

/** How a call ended. `off`: it was not made, because the tool is no longer allowed. */
export type LinkCalled =
  | Exclude<Called, Readonly<{ kind: 'unreached' }>>
  | Readonly<{ kind: 'unreached' | 'late'; message: string }>
  | Readonly<{ kind: 'off' }>;

/** `answers` are those to what the server asked before. */
export type LinkOptions = Readonly<{
  signal: AbortSignal;
  answers?: InputAnswers | undefined;
  mayCall(): boolean;
  onProgress(text: string): void;
}>;

export type ServerLink = Readonly<{
  state(): LinkState;
  /** Resolves when the first try to connect has succeeded or failed. */
  tried: Promise<void>;
  /**
   * Calls a tool. Rejects only if aborted, or with InputNeeded. `mayCall` is asked after connecting, because the tool may have changed then.
   */
  call(tool: string, input: Readonly<Record<string, unknown>>, options: LinkOptions): Promise<LinkCalled>;
  close(): Promise<void>;
}>;

/** Milliseconds for connecting, long because the first start may download a package. */
const connectMs = 60_000;
const readyMs = 20_000;
/** Milliseconds that a call may take without progress, and in total. */
export const silentMs = 120_000;
const wholeMs = 900_000;
/**
 * Milliseconds between retries. They double from `first` to `last`, and restart at `first` after a connection that
 * lasted `held`.
 */
const backoffMs = { first: 1_000, last: 60_000, held: 30_000 };
/** Milliseconds between listings, which double as long as the list keeps changing. */
const listingMs = { first: 1_000, last: 60_000 };

/** Keeps a connection, and retries in the background with growing pauses (X7). `take` receives every list of tools. */
export function createLastingLink(options: {
  connect(signal: AbortSignal, onListChanged: () => void): Promise<McpConnection>;
  /** Called with the tools of each listing. If it rejects, the connection ends. */
  take(listed: readonly unknown[]): Promise<void>;
  onState(state: LinkState, before: LinkState): void;
  clock: Clock;
}): ServerLink {
  const { connect, take, onState, clock } = options;
  const ended = new AbortController();
  let state: LinkState = { is: 'connecting', since: clock.now() };
  let current: McpConnection | undefined;
  /** Resolves after the current or the next try. */
  let attempt = Promise.withResolvers<void>();
  const tried = attempt.promise;
  let pause = new AbortController();
  const running = run();

  async function run(): Promise<void> {
    let wait = backoffMs.first;
    while (!ended.signal.aborted) {
      const began = clock.now();
      pause = new AbortController();
      const why = await hold().catch(messageOf);
      if (ended.signal.aborted) return;
      enter({ is: 'lost', why });
      if (clock.now() - began >= backoffMs.held) wait = backoffMs.first;
      await sleep(wait, pause.signal);
      wait = Math.min(wait * 2, backoffMs.last);
    }
  }

  /** Connects, and resolves with the reason when the connection is lost. */
  async function hold(): Promise<string> {
    const over = createDeadline(clock);
    let connection: McpConnection | undefined;
    try {
      over.start(connectMs);
      const signal = AbortSignal.any([over.signal, ended.signal]);
      const changes = createChanges();
      connection = await connect(signal, changes.note);
      await take(await connection.list(signal));
      over.end();
      current = connection;
      enter({ is: 'connected' });
      const following = changes.follow(connection);
      return await untilAborted(Promise.race([connection.closed, following]), ended.signal);
    } catch (error) {
      return over.signal.aborted ? `it did not answer within ${connectMs / 1_000} s` : messageOf(error);
    } finally {
      over.end();
      current = undefined;
      await connection?.close();
    }
  }

  function createChanges() {
    let noted = Promise.withResolvers<void>();
    let changed = false;
    return {
      note: () => {
        changed = true;
        noted.resolve();
      },
      async follow(connection: McpConnection): Promise<string> {
        for (let wait = listingMs.first; ;) {
          await Promise.race([noted.promise, connection.closed]);
          if (current !== connection) return 'the connection ended';
          noted = Promise.withResolvers();
          changed = false;
          const over = createDeadline(clock);
          over.start(connectMs);
          try {
            await take(await connection.list(AbortSignal.any([over.signal, ended.signal])));
          } finally {
            over.end();
          }
          await sleep(wait, ended.signal);
          wait = changed ? Math.min(wait * 2, listingMs.last) : listingMs.first;
        }
      },
    };
  }

  function enter(next: Entered): void {
    const before = state;
    state = { ...next, since: next.is === before.is ? before.since : clock.now() };
    onState(state, before);
    // Calls that wait for a connection get the next try.
    if (before.is === 'connected') return;
    attempt.resolve();
    attempt = Promise.withResolvers();
  }

  /** Starts a retry at once and waits for that one. Undefined if it failed. */
  async function ready(signal: AbortSignal): Promise<McpConnection | undefined> {
    if (current !== undefined) return current;
    pause.abort();
    const { promise } = attempt;
    await raceTimeout(clock, untilAborted(promise, signal), readyMs);
    return current;
  }

  async function sleep(ms: number, signal: AbortSignal): Promise<void> {
    await clock.sleep(ms, AbortSignal.any([signal, ended.signal])).catch(() => undefined);
  }

  return {
    state: () => state,
    tried,
    async call(tool, input, { signal, answers, mayCall, onProgress }) {
      for (let again = true; ; again = false) {
        const connection = await ready(signal);
        if (!mayCall()) return { kind: 'off' };
        if (connection === undefined)
          return {
            kind: 'unreached',
            message: state.is === 'lost' ? state.why : 'it is still being connected',
          };
        const called = await callWithin(connection, { tool, input }, { signal, answers, onProgress }, clock);
        if (called.kind !== 'unreached' || !again) return called;
        await raceTimeout(
          clock,
          connection.closed.then(() => undefined),
          readyMs,
        );
        if (current === connection) current = undefined;
      }
    },
    async close() {
      ended.abort();
      attempt.resolve();
      await running;
    },
  };
}

/** Calls a tool, and gives it up after a silence or a whole time that is too long. Rejects only if aborted, or with InputNeeded. */
export async function callWithin(
  connection: McpConnection,
  { tool, input }: Readonly<{ tool: string; input: Readonly<Record<string, unknown>> }>,
  { signal, answers, onProgress }: Omit<LinkOptions, 'mayCall'>,
  clock: Clock,
): Promise<LinkCalled> {
  const silent = createDeadline(clock);
  const whole = createDeadline(clock);
  silent.start(silentMs);
  whole.start(wholeMs);
  try {
    return await connection.call(tool, input, {
      signal: AbortSignal.any([signal, silent.signal, whole.signal]),
      answers,
      onProgress(text) {
        silent.end();
        silent.start(silentMs);
        onProgress(text);
      },
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!silent.signal.aborted && !whole.signal.aborted) throw error;
    connection.check();
    const took = silent.signal.aborted ? `${silentMs / 1_000} s without a word` : `${wholeMs / 1_000} s`;
    return { kind: 'late', message: `it did not answer: it was given up after ${took}` };
  } finally {
    silent.end();
    whole.end();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
