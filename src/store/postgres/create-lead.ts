import type { Log } from '../../lib/log.ts';
import type { Store } from '../store.ts';
import { toFault, type Database, type Timed } from './open-database.ts';
import { hangUp } from './create-notify-bus.ts';
import { lockOf } from './job-queue-of.ts';
import { onAbort } from '../../lib/async/on-abort.ts';
import { pause, systemClock } from '../../lib/clock.ts';

const beatMs = 4_000;
/** The server ends a session that is silent for this many milliseconds. */
const silentMs = 12_000;
const trustedMs = silentMs - 2_000;
const againMs = 1_000;
/** The answer may come late, as long as the leader is trusted. */
const signOfLife: Timed = { text: 'SELECT 1', query_timeout: trustedMs };

/**
 * Elects a leader by a session lock, which others try every second (Q9). The lock ends with its process at once, or
 * after 12 seconds of silence. Nobody waits for it in a statement, because that would block vacuum.
 */
export function createLead(database: Database, log: Log): Readonly<{ lead: Store['lead']; close(): void }> {
  const closing = new AbortController();

  return {
    async lead(what, until) {
      const ends = AbortSignal.any([until, closing.signal]);
      for (;;) {
        ends.throwIfAborted();
        try {
          return await acquire(database, what, ends);
        } catch (error) {
          ends.throwIfAborted();
          log.warn({ err: error, what }, 'the database could not be asked who leads; trying again');
          await pause(systemClock, againMs, ends);
        }
      }
    },
    close: () => closing.abort(new Error('the store was closed')),
  };
}

/** Resolves when this process leads. The signal aborts when it no longer does. */
async function acquire(database: Database, what: string, until: AbortSignal): Promise<AbortSignal> {
  const client = database.dedicated();
  const asked = `SELECT pg_try_advisory_lock('${lockOf('lead', what)}'::bigint) AS ours`;
  const leading = new AbortController();
  const timers: { next?: NodeJS.Timeout; trusted?: NodeJS.Timeout } = {};

  function end(reason: unknown): void {
    if (leading.signal.aborted) return;
    clearTimeout(timers.next);
    clearTimeout(timers.trusted);
    leading.abort(reason);
    hangUp(client);
  }

  function beat(aliveAt: number): void {
    if (leading.signal.aborted) return;
    clearTimeout(timers.trusted);
    const late = () => end(new Error(`the database did not answer the leader in ${what}`));
    timers.trusted = setTimeout(late, Math.max(0, aliveAt + trustedMs - performance.now())).unref();
    timers.next = setTimeout(() => {
      const sent = performance.now();
      client.query(signOfLife).then(
        () => beat(sent),
        (error: unknown) => end(toFault(error)),
      );
    }, beatMs).unref();
  }

  client.on('error', (error: Error) => end(toFault(error)));
  client.on('end', () => end(new Error(`the connection that leads in ${what} ended`)));
  const stopListening = onAbort(until, () => end(until.reason));
  onAbort(leading.signal, stopListening);
  try {
    await client.connect();
    await client.query(`SET idle_session_timeout = ${silentMs}; SET application_name = 'skillet lead'`);
    for (;;) {
      const sent = performance.now();
      const { rows } = await client.query<Readonly<{ ours: boolean }>>(asked);
      if (rows[0]?.ours === true) {
        beat(sent);
        return leading.signal;
      }
      await pause(systemClock, againMs, until);
      until.throwIfAborted();
    }
  } catch (error) {
    end(toFault(error));
    throw toFault(error);
  }
}
