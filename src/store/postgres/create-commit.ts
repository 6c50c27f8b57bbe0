import { conversationKey } from '../../core/conversation.ts';
import { addWork } from './accept-messages.ts';
import type { PostgresParts } from './create-postgres-store.ts';
import { createPostgresBatch } from './create-batch.ts';
import { queuesOf as queuesOfItems } from './create-by-hand.ts';
import { runScript } from './create-sql.ts';
import { lost, fenceValues, type Fence } from './lease.ts';
import { lockOf, jobQueueOf } from './job-queue-of.ts';
import { postgresWords } from './search-said.ts';
import type { Query } from './open-database.ts';
import type { Step, Store } from '../store.ts';
import { toListed, type InboxRow } from '../inbox.ts';
import type { MoveRoutine } from '../routines.ts';
import { saidRow } from '../memories.ts';
import { againRun } from '../usage.ts';
import type { SqlStatement } from '../sql.ts';

const writing = `skillet.write_steps(${Array.from({ length: 29 }, (_, n) => `$${n + 1}`).join(', ')}) AS held`;
const statement = `SELECT ${writing}`;
/** Words for the search index, and runs, are written together with their step or not at all. */
const withMore = `WITH written AS MATERIALIZED (SELECT ${writing}), kept AS (
    INSERT INTO skillet.said (holder, transcript, asker, said, words)
    SELECT new.holder, new.transcript, new.asker, new.said, array_to_tsvector(string_to_array(new.words, ' '))
    FROM written, unnest($30::integer[], $31::text[], $32::text[], $33::text[], $34::text[], $35::text[]) WITH ORDINALITY
      AS new (step, holder, transcript, asker, said, words, place)
    WHERE written.held[new.step] ORDER BY new.place),
  ran AS (
    INSERT INTO skillet.runs (id, day, sender, conversation, skill, model, steps, failed, at)
    SELECT new.id, new.day, new.sender, new.conversation, new.skill, new.model, new.steps, new.failed, new.at
    FROM written, unnest($36::integer[], $37::text[], $38::text[], $39::text[], $40::text[], $41::text[], $42::text[],
      $43::integer[], $44::integer[], $45::bigint[])
      AS new (step, id, day, sender, conversation, skill, model, steps, failed, at)
    WHERE written.held[new.step] ORDER BY new.id ON CONFLICT (id) ${againRun})
  SELECT held FROM written`;

const most = 100;

/** A check that runs first in the transaction. If it returns a reason, nothing is written. */
type Guard = Readonly<{ locks: readonly bigint[]; refuse(query: Query): Promise<string | undefined> }>;

/** Writes steps in one transaction each, refused if the queue was lost (Q8, Q9). Steps at the same time share one. */
export function createPostgresCommit(
  { database, jobs, leases, announce, clock }: PostgresParts,
  { beside, move }: Readonly<{ beside: SqlStatement<InboxRow>; move: MoveRoutine }>,
): Pick<Store, 'commit' | 'addWork' | 'fire'> {
  const writeAll = (durable: boolean) =>
    createPostgresBatch<FencedStep, undefined | typeof lost>((steps) => {
      const queues = new Set(steps.flatMap(({ step }) => queuesOf(step)));
      const locks = Array.from(queues, (queue) => lockOf('outbox', queue)).sort(ascending);
      return writeSteps(database.query, steps, { locks, offers: true, durable });
    }, most);
  const write = { disk: writeAll(true), memory: writeAll(false) };

  /** Writes a step that adds work to other queues or finishes an item. */
  async function writeAlone(
    step: Step,
    freed: string | undefined,
    guard?: Guard,
  ): Promise<string | undefined> {
    const parts = new Set(queuesOf(step));
    const work = new Set(step.work?.map(({ queue }) => queue));
    const inbox = freed === undefined ? work : new Set([...work, freed]);
    await jobs.prepare('inbox', inbox);
    const locks = [
      ...Array.from(parts, (queue) => lockOf('outbox', queue)),
      ...Array.from(inbox, (queue) => lockOf('inbox', queue)),
      ...(guard?.locks ?? []),
    ];
    const now = clock.now();
    const refusal = await leases.fenced((fence) =>
      database.transaction({ outlives: 'disk', locks }, async (query) => {
        const how = { locks: [], offers: true, durable: true };
        const reason = await guard?.refuse(query);
        if (reason !== undefined) return reason;
        const [refused] = await writeSteps(query, [{ step, fence, now }], how);
        if (refused === lost) return lost;
        await addWork(query, step.work ?? [], now);
        await jobs.offer(
          query,
          'inbox',
          Array.from(work, (queue) => ({ queue, inMs: 0 })),
        );
        if (freed !== undefined) await jobs.hasten(query, 'inbox', freed);
        return undefined;
      }),
    );
    if (refusal === undefined && inbox.size > 0) announce('inbox', [...inbox]);
    return refusal;
  }

  async function commit(step: Step): Promise<void> {
    // If this queue's holder runs the step, it continues by itself. Otherwise the queue's job has to wake.
    const freed =
      step.done === undefined || leases.active()
        ? undefined
        : (await queuesOfItems(database.query, 'inbox', [step.done]))[0];
    const parts = queuesOf(step);
    await jobs.prepare('outbox', parts);
    if (freed !== undefined || (step.work?.length ?? 0) > 0) await writeAlone(step, freed);
    else {
      const outlives = leases.active() && mayBeLostInCrash(step) ? 'memory' : 'disk';
      await leases.fenced((fence) => write[outlives]({ step, fence, now: clock.now() }));
    }
    if (parts.length > 0) announce('outbox', parts);
  }

  return {
    commit,
    addWork: (work, refuse) =>
      writeAlone({ work: [work] }, undefined, {
        // The lock keeps others from adding work meanwhile.
        locks: [lockOf('beside', 'all')],
        async refuse(query) {
          if (await isKnown(query, work.message.id)) return undefined;
          return refuse((await runScript(query, beside())).rows.map(toListed));
        },
      }),
    async fire({ message, ...moving }) {
      const work = [{ queue: conversationKey(message.conversation), message }];
      const refused = await writeAlone({ work }, undefined, {
        locks: [],
        refuse: async (query) => ((await runScript(query, move(moving, clock.now()))) ? undefined : 'moved'),
      });
      return refused === undefined;
    },
  };
}

async function isKnown(query: Query, key: string): Promise<boolean> {
  const { rows } = await query('SELECT 1 FROM skillet.inbox_keys WHERE key = $1', [key]);
  return rows.length > 0;
}

/**
 * Whether a step may be lost in a crash of the server, because the queue repeats it: the item waits again, the queue is
 * lost with the epoch, and a part is sent only after a write to disk. Tool calls are never repeated that way.
 */
function mayBeLostInCrash({ entries = [] }: Step): boolean {
  return entries.every(({ entry: { kind } }) => kind === 'user' || kind === 'assistant' || kind === 'notice');
}

function queuesOf({ outbox = [] }: Step): readonly string[] {
  return outbox.map(({ conversation }) => conversationKey(conversation));
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}

type FencedStep = Readonly<{ step: Step; fence: Fence; now: number }>;

/**
 * Writes each step completely, or not at all if its queue was lost. Returns which were written. `locks` are sorted and
 * belong to the queues that get parts. With `offers` such a queue gets a job. `durable` writes to disk.
 */
async function writeSteps(
  query: Query,
  steps: readonly FencedStep[],
  { locks, offers, durable }: Readonly<{ locks: readonly bigint[]; offers: boolean; durable: boolean }>,
): Promise<readonly (undefined | typeof lost)[]> {
  const entries = steps.flatMap(({ step }, n) => (step.entries ?? []).map((one) => ({ ...one, of: n + 1 })));
  const parts = steps.flatMap(({ step }, n) =>
    (step.outbox ?? []).map((one) => ({ ...one, of: n + 1, queue: conversationKey(one.conversation) })),
  );
  const uses = steps.flatMap(({ step }, n) => (step.usage ?? []).map((one) => ({ ...one, of: n + 1 })));
  const more = valuesOfMore(steps);
  const { rows } = await query<Readonly<{ held: readonly boolean[] }>>(
    more.length > 0 ? withMore : statement,
    [
      durable,
      locks.map(String),
      steps[0]?.now ?? 0,
      ...fenceValues(steps.map(({ fence }) => fence)),
      steps.map(({ step }) => step.done ?? null),
      entries.map(({ of }) => of),
      entries.map(({ transcript }) => transcript),
      entries.map(({ entry }) => entry.kind),
      entries.map(({ entry }) => JSON.stringify(entry)),
      entries.map(({ entry }) => Math.trunc(entry.at)),
      parts.map(({ of }) => of),
      parts.map(({ key }) => key),
      parts.map(({ queue }) => queue),
      parts.map(({ queue }) => (offers ? jobQueueOf('outbox', queue) : null)),
      parts.map(({ conversation }) => JSON.stringify(conversation)),
      parts.map(({ part }) => JSON.stringify(part)),
      uses.map(({ of }) => of),
      uses.map(({ day }) => day),
      uses.map(({ sender }) => sender),
      uses.map(({ conversation }) => conversation),
      uses.map(({ skill }) => skill),
      uses.map(({ model }) => model),
      uses.map(({ tokens }) => tokens.input),
      uses.map(({ tokens }) => tokens.output),
      uses.map(({ tokens }) => tokens.cacheRead),
      uses.map(({ tokens }) => tokens.cacheWrite),
      ...more,
    ],
  );
  return steps.map((_, place) => (rows[0]?.held[place] === true ? undefined : lost));
}

/** What few steps have: words for the search, and runs. Empty if none of them has any. */
function valuesOfMore(steps: readonly FencedStep[]): readonly (readonly (string | number)[])[] {
  const said = steps.flatMap(({ step }, n) =>
    (step.searchable ?? []).map((one) => ({ ...saidRow(one), of: n + 1 })),
  );
  const runs = steps.flatMap(({ step }, n) => (step.runs ?? []).map((one) => ({ ...one, of: n + 1 })));
  if (said.length === 0 && runs.length === 0) return [];
  return [
    said.map(({ of }) => of),
    said.map(({ holder }) => holder),
    said.map(({ transcript }) => transcript),
    said.map(({ asker }) => asker),
    said.map((one) => one.said),
    said.map(({ holder, words }) => postgresWords(holder, words)),
    runs.map(({ of }) => of),
    runs.map(({ id }) => id),
    runs.map(({ day }) => day),
    runs.map(({ sender }) => sender),
    runs.map(({ conversation }) => conversation),
    runs.map(({ skill }) => skill),
    runs.map(({ model }) => model),
    runs.map((one) => one.steps),
    runs.map(({ failed }) => Number(failed)),
    runs.map(({ at }) => Math.trunc(at)),
  ];
}
