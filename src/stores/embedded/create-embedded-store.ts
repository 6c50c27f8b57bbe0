import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Store } from '../store.ts';
import { createInbox } from './create-inbox.ts';
import { createKeyed } from './create-keyed.ts';
import { createOutbox } from './create-outbox.ts';
import { createOverheard } from './create-overheard.ts';
import { createPrune } from './create-prune.ts';
import { createTranscripts } from './create-transcripts.ts';
import type { Connection } from './open-connection.ts';

/** The store on an open, migrated connection, which it closes with itself. Every method rejects where the database fails (Q11). */
export function createEmbeddedStore(
  connection: Connection,
  { clock, log, release }: Readonly<{ clock: Clock; log: Log; release: () => void }>,
): Store {
  const listeners = new Set<() => void>();
  const changed = () => listeners.forEach((listener) => listener());
  const { finish, ...inbox } = createInbox(connection, clock, log, changed);
  const { add, ...outbox } = createOutbox(connection, clock, log);
  const { append, ...transcripts } = createTranscripts(connection, log);
  let open = true;

  return {
    inbox,
    outbox,
    transcripts,
    overheard: createOverheard(connection, log),
    async commit({ entries = [], outbox: rows = [], done }) {
      connection.write('process', () => {
        for (const { transcript, entry } of entries) append(transcript, entry);
        for (const row of rows) add(row);
        if (done !== undefined) finish(done);
      });
      if (rows.length > 0 || done !== undefined) changed();
    },
    keyed: createKeyed(connection, log),
    onWork: (listener) => void listeners.add(listener),
    prune: createPrune(connection),
    async close() {
      if (!open) return;
      open = false;
      connection.close();
      release();
    },
  };
}
