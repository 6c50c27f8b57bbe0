import type { Entry } from '../../core/entry.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { SearchableText } from '../../core/memory.ts';
import { toListed, type InboxRow } from '../inbox.ts';
import type { MoveRoutine } from '../routines.ts';
import { saidRow } from '../memories.ts';
import { againRun } from '../usage.ts';
import { sqliteWords } from './search-said.ts';
import type { SqlStatement, Steps } from '../sql.ts';
import type { RunRow, Store, Use } from '../store.ts';
import type { SqliteParts } from './create-embedded-store.ts';
import type { createSqliteItems } from './create-items.ts';
import type { createSqliteParts } from './create-parts.ts';
import type { Bell } from './create-worker.ts';
import type { SqliteConnection } from './open-connection.ts';

export function createSqliteCommit(
  { connection, batch, sql, clock }: SqliteParts,
  work: Readonly<{
    items: ReturnType<typeof createSqliteItems>;
    parts: ReturnType<typeof createSqliteParts>;
    beside: SqlStatement<InboxRow>;
    move: MoveRoutine;
    toAnswer: Bell;
    toSend: Bell;
  }>,
): Pick<Store, 'commit' | 'addWork' | 'fire'> {
  const { items, parts, beside, move, toAnswer, toSend } = work;
  const append = createAppend(connection);
  const addUse = createAddUse(connection);
  const addRun = createAddRun(connection);
  const addSaid = createAddSaid(connection);
  const known = sql.statement('SELECT 1 FROM inbox_keys WHERE key = ?1');

  function* addUnless(
    ...[{ queue, message }, refuse]: Parameters<Store['addWork']>
  ): Steps<string | undefined> {
    if ((yield* known(message.id)).rows.length > 0) return undefined;
    const refused = refuse((yield* beside()).rows.map(toListed));
    if (refused === undefined) items.add(message, queue);
    return refused;
  }

  return {
    async commit({ entries = [], outbox = [], work = [], usage = [], runs = [], searchable = [], done }) {
      const queue = await batch.write('process', () => {
        for (const { transcript, entry } of entries) append(transcript, entry);
        for (const row of outbox) parts.add(row);
        for (const { message, queue } of work) items.add(message, queue);
        for (const use of usage) addUse(use);
        for (const run of runs) addRun(run);
        for (const one of searchable) addSaid(one);
        return done === undefined ? undefined : items.finish(done);
      });
      if (outbox.length > 0) toSend.ring();
      if (work.length > 0) toAnswer.ring();
      else if (queue !== undefined) toAnswer.ring(queue);
    },
    async addWork(work, refuse) {
      const refused = await batch.write('process', () => sql.run(addUnless(work, refuse)));
      if (refused === undefined) toAnswer.ring();
      return refused;
    },
    async fire({ message, ...moving }) {
      const queue = conversationKey(message.conversation);
      // Written to disk, so that nothing fires twice after a power cut.
      const fired = await batch.write('power', () => {
        const may = sql.run(move(moving, clock.now()));
        if (may) items.add(message, queue);
        return may;
      });
      if (fired) toAnswer.ring(queue);
      return fired;
    },
  };
}

function createAppend(connection: SqliteConnection): (transcript: string, entry: Entry) => void {
  const insert = connection.prepare('INSERT INTO entries (transcript, kind, entry) VALUES (?, ?, ?)');
  const touch = connection.prepare(
    `INSERT INTO transcript_times (transcript, last_at) VALUES (?, ?)
     ON CONFLICT (transcript) DO UPDATE SET last_at = MAX(last_at, excluded.last_at)`,
  );
  return (transcript, entry) => {
    insert.run(transcript, entry.kind, JSON.stringify(entry));
    touch.run(transcript, Math.trunc(entry.at));
  };
}

function createAddSaid(connection: SqliteConnection): (said: SearchableText) => void {
  const insert = connection.prepare(
    'INSERT INTO said (holder, transcript, asker, said, words) VALUES (?, ?, ?, ?, ?)',
  );
  return (of) => {
    const { holder, transcript, asker, said, words } = saidRow(of);
    insert.run(holder, transcript, asker, said, sqliteWords(holder, words));
  };
}

function createAddUse(connection: SqliteConnection): (use: Use) => void {
  const insert = connection.prepare(
    `INSERT INTO usage (day, sender, conversation, skill, model, requests, input, output, cache_read, cache_write)
     VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?)
     ON CONFLICT (day, sender, conversation, skill, model) DO UPDATE SET requests = requests + 1,
       input = input + excluded.input, output = output + excluded.output,
       cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write`,
  );
  return ({ day, sender, conversation, skill, model, tokens }) => {
    const { input, output, cacheRead, cacheWrite } = tokens;
    insert.run(day, sender, conversation, skill, model, input, output, cacheRead, cacheWrite);
  };
}

function createAddRun(connection: SqliteConnection): (run: RunRow) => void {
  const insert = connection.prepare(
    `INSERT INTO runs (id, day, sender, conversation, skill, model, steps, failed, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) ${againRun}`,
  );
  return ({ id, day, sender, conversation, skill, model, steps, failed, at }) => {
    insert.run(id, day, sender, conversation, skill, model, steps, Number(failed), Math.trunc(at));
  };
}
