import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';
import { until } from './until.ts';

const runs = Math.max(4, Math.round(Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200) / 20));

/** A message in a conversation where nothing was said before. */
function said(person: string, key: string): ReturnType<typeof makeMessage> {
  return makeMessage({
    id: key,
    sender: { id: `telegram:${person}`, name: person, kind: 'person' },
    conversation: { channel: 'telegram', chat: 'team', thread: key },
  });
}

async function say(store: Store, person: string, key: string): Promise<void> {
  assert.equal(await store.inbox.accept(said(person, key), { now: Date.now() }), 'stored');
}

type Turns = Readonly<{
  /** In the order in which they started. */
  started: readonly string[];
  running(): number;
  /** Ends the turn that runs longest. */
  endOldest(): void;
  finish(): Promise<void>;
}>;

/** Takes what waits, and ends a turn when it is told to. */
function takeTurns(
  store: Store,
  { concurrency, channel = 'telegram' }: Readonly<{ concurrency: number; channel?: string }>,
): Turns {
  const started: string[] = [];
  const held: PromiseWithResolvers<void>[] = [];
  const free = { all: false };
  const serving = store.inbox.startWorker({
    channels: [channel],
    concurrency,
    async run(queue) {
      const item = await store.inbox.take(queue, Date.now());
      if (item === undefined) return;
      started.push(item.key);
      if (!free.all) {
        const turn = Promise.withResolvers<void>();
        held.push(turn);
        await turn.promise;
      }
      await store.commit({ done: item.key });
    },
  });
  return {
    started,
    running: () => held.length,
    endOldest: () => held.shift()?.resolve(),
    async finish() {
      free.all = true;
      for (const turn of held) turn.resolve();
      await serving.idle();
      await serving.stop();
    },
  };
}

type Event = 'end' | Readonly<{ person: number; messages: number }>;

const events: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('end' as const) },
    { weight: 1, arbitrary: fc.record({ person: fc.nat(4), messages: fc.integer({ min: 1, max: 3 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ person: fc.constant(0), messages: fc.integer({ min: 10, max: 20 }) }),
    },
  ),
  { minLength: 5, maxLength: 30 },
);

/** Conversations start fairly by person where more wait than may run (Q3). */
export function fairContract(storeTest: StoreTest): void {
  storeTest('Q3 who writes in 60 conversations keeps nobody else waiting', async (store) => {
    const turns = takeTurns(store, { concurrency: 1 });
    for (let n = 1; n <= 60; n++) await say(store, 'ann', `ann${n}`);
    await until(() => turns.running() === 1);
    await say(store, 'bob', 'bob1');
    await say(store, 'cid', 'cid1');
    await turns.finish();
    const before = turns.started.slice(0, 5);
    assert.ok(before.includes('bob1') && before.includes('cid1'), before.join(' '));
    const ann = turns.started.filter((key) => key.startsWith('ann'));
    assert.deepEqual(
      ann.toSorted((a, b) => Number(a.slice(3)) - Number(b.slice(3))),
      ann,
      'of one person the oldest goes first',
    );
    assert.equal(turns.started.length, 62);
  });

  storeTest('Q3 U9 runs in the background count for who asked for them', async (store) => {
    const run = (person: string, id: string) => ({
      queue: `telegram:team~${id}`,
      message: said(person, id),
    });
    await store.commit({ work: Array.from({ length: 20 }, (_, n) => run('ann', `ann${n}`)) });
    await store.commit({ work: [run('bob', 'bob1')] });
    // A queue of Ann's conversations has rounds of its own.
    for (let n = 1; n <= 20; n++) await say(store, 'ann', `said${n}`);
    await say(store, 'bob', 'said-bob');
    for (const [channel, bobs] of [
      ['telegram~', 'bob1'],
      ['telegram', 'said-bob'],
    ] as const) {
      const turns = takeTurns(store, { concurrency: 1, channel });
      await turns.finish();
      assert.equal(turns.started.length, 21);
      assert.ok(turns.started.indexOf(bobs) <= 2, turns.started.join(' '));
    }
  });

  storeTest('Q3 a conversation keeps its order, whoever writes in it', async (store) => {
    const conversation = { channel: 'telegram', chat: 'team' };
    for (let n = 1; n <= 20; n++) await say(store, 'ann', `ann${n}`);
    const here = ['ann', 'bob', 'ann', 'bob'].map((person, n) => ({
      ...said(person, `here${n}`),
      conversation,
    }));
    for (const message of here) await store.inbox.accept(message, { now: Date.now() });
    const turns = takeTurns(store, { concurrency: 3 });
    await turns.finish();
    const keys = here.map(({ id }) => id);
    assert.deepEqual(
      turns.started.filter((key) => keys.includes(key)),
      keys,
    );
    assert.equal(turns.started.length, 24);
  });

  storeTest('Q3 nobody waits for more than a few starts of each other person', async (store) => {
    let run = 0;
    const property = fc.asyncProperty(fc.integer({ min: 1, max: 3 }), events, async (slots, order) => {
      run += 1;
      const arrived = new Map<string, Readonly<{ person: number; at: number; isNew: boolean }>>();
      const turns = takeTurns(store, { concurrency: slots });
      let count = 0;
      const ended = new Set<string>();
      for (const event of order) {
        if (event === 'end') {
          if (turns.running() === 0) continue;
          const oldest = turns.started[ended.size];
          if (oldest !== undefined) ended.add(oldest);
          const waits = arrived.size > turns.started.length;
          const before = turns.started.length;
          turns.endOldest();
          if (waits) await until(() => turns.started.length > before);
          continue;
        }
        for (let n = 0; n < event.messages; n++) {
          const key = `r${run}-${++count}`;
          const isNew = [...arrived].every(
            ([other, { person }]) => person !== event.person || ended.has(other),
          );
          await say(store, String(event.person), key);
          arrived.set(key, { person: event.person, at: turns.started.length, isNew });
        }
        await until(() => turns.running() === Math.min(slots, arrived.size - ended.size));
      }
      await turns.finish();
      assert.equal(turns.started.length, arrived.size);
      const people = new Set([...arrived.values()].map(({ person }) => person)).size;
      const lastStart = new Map<number, number>();
      for (const [at, key] of turns.started.entries()) {
        const one = arrived.get(key) ?? assert.fail(`${key} was never said`);
        const waited = at - Math.max(one.at, lastStart.get(one.person) ?? 0);
        const most = 2 * (people - 1) * (one.isNew ? 1 : slots + 1) + slots;
        assert.ok(waited <= most, `${key} waited for ${waited} starts, ${people} people, ${slots} slots`);
        lastStart.set(one.person, at);
      }
    });
    await fc.assert(property, { numRuns: runs });
  });
}
