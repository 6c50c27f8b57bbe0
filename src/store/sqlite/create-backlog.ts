import type { Backlog } from '../backlog.ts';
import type { Connection } from './open-connection.ts';

/** `Store.backlog` on the embedded store: each count walks an index that holds only what it counts. */
export function createBacklog(connection: Connection): () => Promise<Backlog> {
  const counting = (rows: string) => {
    const statement = connection.prepare<Readonly<{ rows: number }>>(`SELECT COUNT(*) AS rows FROM ${rows}`);
    return (): number => statement.get()?.rows ?? 0;
  };
  const waiting = counting(`inbox WHERE status = 'waiting'`);
  const dead = counting(`inbox WHERE status = 'dead'`);
  const unsent = counting('outbox WHERE finished_at IS NULL');
  return async () => ({ inboxWaiting: waiting(), inboxDead: dead(), outboxWaiting: unsent() });
}
