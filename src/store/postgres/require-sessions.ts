import type pg from 'pg';
import { OperatorError } from '../../core/errors.ts';
import { hangUp } from './create-notify-bus.ts';
import { DatabaseFault, toFault, type Database } from './open-database.ts';

const answerMs = 15_000;
/** What a pooler answers to BEGIN if each statement has a session of its own. */
const protocolViolation = '08P01';

/**
 * Throws OperatorError if the address leads to a pooler that shares the server's sessions between clients. LISTEN,
 * session locks, settings and prepared statements would get lost (Q9).
 */
export async function requireSessions({ dedicated }: Database): Promise<void> {
  const clients = [dedicated(), dedicated(), dedicated()] as const;
  const [first, ...others] = clients;
  try {
    const ours = await backendOf(await connected(first));
    if ('processID' in first && first.processID === ours) return;
    // There is a pooler in between. Other clients pin sessions: if one gets ours, or we get another, sessions are
    // shared.
    for (const other of others) {
      if ((await pinnedBy(await connected(other))) === ours || (await backendOf(first)) !== ours)
        throw sharing();
    }
  } finally {
    clients.forEach(hangUp);
  }
}

async function connected(client: pg.Client): Promise<pg.Client> {
  client.on('error', () => undefined);
  await client.connect().catch(fault);
  return client;
}

async function pinnedBy(client: pg.Client): Promise<number> {
  return backendOf(client, 'BEGIN; ').catch((error: unknown) => {
    throw error instanceof DatabaseFault && error.code === protocolViolation ? sharing() : error;
  });
}

/** Id of the server process that answers this client now. */
async function backendOf(client: pg.Client, before = ''): Promise<number> {
  const asked = { text: `${before}SELECT pg_backend_pid() AS pid`, query_timeout: answerMs };
  const answer: unknown = await client.query<Readonly<{ pid: number }>>(asked).catch(fault);
  // Several statements have several answers, of which the last counts.
  const [last] = [answer].flat().slice(-1) as readonly pg.QueryResult<Readonly<{ pid: number }>>[];
  return last?.rows[0]?.pid ?? NaN;
}

function fault(error: unknown): never {
  throw toFault(error);
}

function sharing(): OperatorError {
  return new OperatorError(
    'The address in [store] url leads to a pooler that shares sessions between clients, and Skillet needs sessions of its own. ' +
      'Set pool_mode = session there for this database, or write the address of the PostgreSQL server itself.',
  );
}
