import { conversationKey } from '../../core/conversation.ts';
import type { Step } from '../store.ts';
import { fenceValues, lost, type Fence } from './lease.ts';
import type { Query } from './open-database.ts';
import { queueOf } from './queue-of.ts';

/** A step, but for its work, and what it shows to be let through. */
export type FencedStep = Readonly<{ step: Step; fence: Fence; now: number }>;

const statement = `SELECT skillet.write_steps(${Array.from({ length: 29 }, (_, n) => `$${n + 1}`).join(', ')}) AS held`;

/**
 * Writes steps, each whole or, where its lane was lost, not at all, and gives which were written. `locks`, sorted, are those
 * of lanes that get parts to send; with `offers` such a lane gets a job where it has none. `durable`: to the disk.
 */
export async function writeSteps(
  query: Query,
  steps: readonly FencedStep[],
  { locks, offers, durable }: Readonly<{ locks: readonly bigint[]; offers: boolean; durable: boolean }>,
): Promise<readonly (undefined | typeof lost)[]> {
  const entries = steps.flatMap(({ step }, n) => (step.entries ?? []).map((one) => ({ ...one, of: n + 1 })));
  const parts = steps.flatMap(({ step }, n) =>
    (step.outbox ?? []).map((one) => ({ ...one, of: n + 1, lane: conversationKey(one.conversation) })),
  );
  const uses = steps.flatMap(({ step }, n) => (step.usage ?? []).map((one) => ({ ...one, of: n + 1 })));
  const { rows } = await query<Readonly<{ held: readonly boolean[] }>>(statement, [
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
    parts.map(({ lane }) => lane),
    parts.map(({ lane }) => (offers ? queueOf('outbox', lane) : null)),
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
  ]);
  return steps.map((_, place) => (rows[0]?.held[place] === true ? undefined : lost));
}
