import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../src/lib/clock.ts';
import { watchRoutines } from '../src/features/routines/watch-routines.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Firing } from '../src/store/routines.ts';
import type { Store } from '../src/store/store.ts';
import { quietLog } from '../test/support/quiet-log.ts';
import { makeRoutine } from '../test/support/routines-contract.ts';
import { unmovedChats } from '../test/support/unmoved-chats.ts';

const batch = 500;
const eachHas = 20;
const day = 24 * 3_600_000;
/** From adding a routine to its time, milliseconds. */
const soon = 30;

/** Lends SQLite stores in files, each a copy of one with so many routines that are due in one to fifty days. */
export async function withSleeping<T>(
  count: number,
  use: (copy: () => Promise<string>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-bench-routines-'));
  try {
    const file = path.join(folder, 's.db');
    const store = await openStore(`sqlite:${file}`, { clock: systemClock });
    for (let first = 0; first < count; first += batch)
      await Promise.all(
        Array.from({ length: Math.min(batch, count - first) }, (_, n) => addSleeping(store, first + n)),
      );
    await store.close();
    let copies = 0;
    return await use(async () => {
      const copy = `${file}.${++copies}`;
      await copyFile(file, copy);
      return `sqlite:${copy}`;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Milliseconds of a look that finds nothing due, and from a due time until its message is stored. */
export async function routineTimes(
  url: string,
  firings: number,
): Promise<Readonly<{ looks: readonly number[]; delays: readonly number[] }>> {
  const store = await openStore(url, { clock: systemClock });
  try {
    const looks: number[] = [];
    for (let round = -20; round < firings; round++) {
      const began = performance.now();
      await store.routines.due(Date.now(), 50);
      await store.routines.nextDue();
      if (round >= 0) looks.push(performance.now() - began);
    }
    return { looks, delays: await firingDelays(store, firings) };
  } finally {
    await store.close();
  }
}

async function firingDelays(store: Store, firings: number): Promise<readonly number[]> {
  const stored = { resolve: (_at: number): void => undefined };
  const watch = watchRoutines({
    store: {
      ...store,
      async fire(firing: Firing) {
        const fired = await store.fire(firing);
        stored.resolve(performance.timeOrigin + performance.now());
        return fired;
      },
    },
    migrations: unmovedChats,
    audit: { record: async () => undefined },
    clock: systemClock,
    log: quietLog(),
  });
  // The clock's timers do not.
  const keepsAlive = setInterval(() => undefined, 1_000);
  watch.start();
  const delays: number[] = [];
  for (let n = 0; n < firings; n++) {
    const at = Date.now() + soon;
    const fired = new Promise<number>((resolve) => (stored.resolve = resolve));
    const definition = { when: { kind: 'once', at }, creator: creatorOf(0) } as const;
    await store.routines.add(makeRoutine(`due-${n}`, { dueAt: at, definition }), eachHas + 1);
    await store.signals.send('routines', `due-${n}`);
    delays.push((await fired) - at);
  }
  clearInterval(keepsAlive);
  await watch.stop();
  return delays;
}

async function addSleeping(store: Store, n: number): Promise<void> {
  const dueAt = Date.now() + day + (n % 49) * day;
  const definition = { creator: creatorOf(Math.floor(n / eachHas)) };
  await store.routines.add(makeRoutine(`sleeping-${n}`, { dueAt, definition }), eachHas);
}

function creatorOf(n: number) {
  return { id: `telegram:${1_000_000 + n}`, name: 'Ada', kind: 'person', timezone: 'Europe/Berlin' } as const;
}
