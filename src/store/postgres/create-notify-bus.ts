import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import type { Log } from '../../lib/log.ts';
import { createLocalSignals, topics, type Signals } from '../signals.ts';
import type { QueueKind } from './lease.ts';
import { toFault, type Database, type Query } from './open-database.ts';

/** LISTEN and NOTIFY between processes. These are hints, which a disconnected process misses. */
export type NotifyBus = Readonly<{
  /** Notifies the other processes, not this one. */
  send(topic: string, text: string): Promise<void>;
  on(topic: string, listener: (text: string) => void): () => void;
  /** Called after each connect, because something may have been missed before. */
  onReturn(listener: () => void): void;
  /** Queries on the connection that listens, which waits for none of the pool. While it is away, they use the pool. */
  query: Query;
  close(): void;
}>;

const channel = 'skillet';
const heartbeatMs = 10_000;
const longestWaitMs = 1_000;
const envelope = z.object({ from: z.string(), topic: z.string(), text: z.string() });

/**
 * Connects in the background, and again when the connection is lost. `greeting` is SQL that each session begins with.
 */
export function createNotifyBus(database: Database, log: Log, greeting: string): NotifyBus {
  const self = randomUUID();
  const listeners = new Set<Readonly<{ topic: string; listener: (text: string) => void }>>();
  const returned = new Set<() => void>();
  const state: {
    client?: pg.Client;
    /** Set while the connection listens. */
    query?: Query;
    timer?: NodeJS.Timeout;
    failures: number;
    closed: boolean;
  } = { failures: 0, closed: false };

  function receive(payload: string): void {
    const read = envelope.safeParse(parsed(payload));
    if (!read.success || read.data.from === self) return;
    const { topic, text } = read.data;
    for (const one of [...listeners]) if (one.topic === topic) one.listener(text);
  }

  async function connect(): Promise<void> {
    const client = database.dedicated();
    state.client = client;
    client.on('error', (error: Error) => lose(client, error));
    client.on('end', () => lose(client, new Error('the connection ended')));
    client.on('notification', ({ payload }) => receive(payload ?? ''));
    try {
      await client.connect();
      // Without it a heartbeat would wait for the disk.
      await client.query(`SET synchronous_commit = off; ${greeting}; LISTEN ${channel}`);
    } catch (error) {
      return lose(client, error);
    }
    state.failures = 0;
    state.query = database.on(client);
    beat(client);
    // Called at the first connection, too, because nothing was received before.
    for (const listener of returned) listener();
  }

  function beat(client: pg.Client): void {
    wait(heartbeatMs, () => {
      client.query('SELECT 1').then(
        () => {
          if (state.client === client) beat(client);
        },
        (error: unknown) => lose(client, error),
      );
    });
  }

  function lose(client: pg.Client, error: unknown): void {
    if (state.closed || state.client !== client) return;
    delete state.client;
    delete state.query;
    hangUp(client);
    log.debug({ err: toFault(error) }, 'the line to the other processes was lost');
    wait(Math.min(100 * 2 ** state.failures++, longestWaitMs), () => void connect());
  }

  function wait(ms: number, then: () => void): void {
    clearTimeout(state.timer);
    if (!state.closed) state.timer = setTimeout(then, ms).unref();
  }

  void connect();
  return {
    async send(topic, text) {
      await database.query('SELECT pg_notify($1, $2)', [
        channel,
        JSON.stringify({ from: self, topic, text }),
      ]);
    },
    on(topic, listener) {
      const one = { topic, listener };
      listeners.add(one);
      return () => void listeners.delete(one);
    },
    onReturn: (listener) => void returned.add(listener),
    query: (sql, values) => (state.query ?? database.query)(sql, values),
    close() {
      state.closed = true;
      clearTimeout(state.timer);
      if (state.client !== undefined) hangUp(state.client);
    },
  };
}

/** Notifies this process at once and others by the bus (Q9). */
export function createSignals(wire: NotifyBus): Signals {
  const local = createLocalSignals();
  for (const topic of topics) wire.on(topic, (text) => void local.send(topic, text));
  return {
    async send(topic, text) {
      await local.send(topic, text);
      await wire.send(topic, text);
    },
    on: local.on,
  };
}

export type Announcer = Readonly<{
  /**
   * Tells that queues (default: any) are due now or in `inMs`. Other processes learn only "due now"; they also look
   * regularly.
   */
  announce(kind: QueueKind, queues?: readonly string[], inMs?: number): void;
  on(kind: QueueKind, listener: Listener): () => void;
  close(): Promise<void>;
}>;

type Listener = (queues: readonly string[] | undefined, inMs: number) => void;

/**
 * Milliseconds to collect hints before sending them. Commits that notify wait for each other, so hints are sent
 * separately.
 */
const gatherMs = 20;

export function createAnnouncer(wire: NotifyBus, log: Log): Announcer {
  const listeners = { inbox: new Set<Listener>(), outbox: new Set<Listener>() };
  const pending = new Map<QueueKind, NodeJS.Timeout>();
  const tell = (kind: QueueKind, queues: readonly string[] | undefined, inMs: number) =>
    [...listeners[kind]].forEach((listener) => listener(queues, inMs));

  async function hint(kind: QueueKind): Promise<void> {
    clearTimeout(pending.get(kind));
    pending.delete(kind);
    await wire.send(kind, '').catch((error: unknown) => {
      log.debug({ err: error }, 'the other processes were not told of work; they look regularly');
    });
  }

  for (const kind of ['inbox', 'outbox'] as const) {
    wire.on(kind, () => tell(kind, undefined, 0));
    wire.onReturn(() => tell(kind, undefined, 0));
  }
  return {
    announce(kind, queues, inMs = 0) {
      tell(kind, queues, inMs);
      if (inMs > 0 || pending.has(kind)) return;
      pending.set(kind, setTimeout(() => void hint(kind), gatherMs).unref());
    },
    on(kind, listener) {
      listeners[kind].add(listener);
      return () => void listeners[kind].delete(listener);
    },
    async close() {
      await Promise.all([...pending.keys()].map(hint));
    },
  };
}

/** Closes a connection at once; whatever waits on it rejects. */
export function hangUp(client: pg.Client): void {
  client.connection.stream.destroy();
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    // Another program has sent this on our channel.
    return undefined;
  }
}
