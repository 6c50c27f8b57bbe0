import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { LoopResult } from '../../src/agent/next-step.ts';
import { runLoop } from '../../src/agent/run-loop.ts';
import { isSummaryRequest } from '../../src/agent/plan-compaction.ts';
import type { Entry } from '../../src/core/entry.ts';
import { ModelError } from '../../src/core/errors.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { readOnly } from '../../src/core/tool.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { refusalOf } from './strict-request.ts';

const filler = 'word '.repeat(360);
const steps = 10;
const died = new Error('the process dies here');
const lastStep = (request: ModelRequest): number =>
  Math.max(0, ...[...JSON.stringify(request.messages).matchAll(/step (\d+)/g)].map(([, n]) => Number(n)));

type Crash = Readonly<{ at: number; when: 'before' | 'after' | 'asking' }>;

/** A long turn over a real store, which dies once where it is told to and is begun again from what is stored. */
async function live(
  store: Store,
  crash: Crash | undefined,
  options: Readonly<{ maxIterations?: number; window?: number; overflowAt?: number }> = {},
) {
  const world: string[] = [];
  const summarised: string[] = [];
  let [commits, requests, overflows] = [0, 0, 0];
  let stored: Entry['kind'] | undefined;
  const model = scriptedModel(
    (request) => {
      assert.equal(refusalOf(request), undefined);
      if (crash?.when === 'asking' && requests++ === crash.at) throw died;
      const last = lastStep(request);
      if (isSummaryRequest(request)) {
        summarised.push(JSON.stringify(request.messages));
        return { text: `SUMMARY up to step ${last}`, tokens: { input: 7, output: 1 } };
      }
      assert.match(JSON.stringify(request.messages), /the REQUEST/);
      if (options.overflowAt === last && overflows++ === 0) {
        throw new ModelError('400', { sentence: 'Too long.', passing: false, tooLong: true });
      }
      if (request.tools.length === 0) return 'That is all.';
      if (last === steps) return 'Done.';
      return {
        text: `step ${last + 1}.`,
        calls: [{ name: 'do', id: `c${last + 1}` }],
        tokens: { input: Math.round(JSON.stringify(request).length / 4) },
      };
    },
    { contextWindow: options.window ?? 4_000 },
  );
  const append = async (entry: Entry): Promise<void> => {
    const here = commits++ === crash?.at;
    if (here) stored = entry.kind;
    if (here && crash.when === 'before') throw died;
    await store.commit({ entries: [{ transcript: 't', entry }] });
    if (here && crash.when === 'after') throw died;
  };
  const once = async (): Promise<LoopResult> => {
    const { entries } = await store.transcripts.read('t');
    return runLoop(
      {
        system: [{ type: 'text', text: 'You are a test.' }],
        entries: entries.map(({ entry }) => entry),
        maxIterations: options.maxIterations ?? 25,
      },
      {
        model,
        tools: () => [
          {
            name: 'do',
            description: 'Does.',
            inputSchema: { type: 'object' },
            traits: { ...readOnly, sideEffects: true, idempotent: false },
          },
        ],
        async callTool({ id }, _, begin) {
          await begin?.();
          world.push(id.split('_')[0] ?? '');
          return { content: `done ${id} ${filler}`, isError: false };
        },
        append,
        signal: new AbortController().signal,
        clock: createManualClock(),
      },
    );
  };
  const request: Entry = { kind: 'user', item: 'm', sender: 'telegram:42', content: 'the REQUEST', at: 1 };
  await store.commit({ entries: [{ transcript: 't', entry: request }] });
  let crashed = false;
  const result = await once().catch((error: unknown) => {
    assert.equal(error, died);
    crashed = true;
    return once();
  });
  const { entries } = await store.transcripts.read('t');
  return {
    result,
    stored,
    world,
    summarised,
    crashed,
    commits,
    requests,
    entries: entries.map(({ entry }) => entry),
  };
}

async function inMemory<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore('sqlite::memory:', { clock: createManualClock() });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

for (const [what, stride, options] of [
  ['a turn that is folded', 1, {}],
  ['a turn that ran out of steps', 2, { maxIterations: 8 }],
  ['a prompt that did not fit', 2, { window: 100_000, overflowAt: 6 }],
] as const) {
  test(`Q5 M9 ${what} ends the same whenever the process dies, and no call is made twice`, async () => {
    const whole = await inMemory((store) => live(store, undefined, options));
    const made = Array.from(
      { length: options === undefined ? 0 : whole.world.length },
      (_, n) => `c${n + 1}`,
    );
    assert.deepEqual(whole.world, made);
    assert.ok(whole.summarised.length > 0);
    assert.ok(whole.result.tokens.output >= whole.summarised.length, 'tokens of summaries are not counted');
    const counted = { asking: whole.commits, before: whole.commits, after: whole.commits };
    for (const when of ['before', 'after', 'asking'] as const) {
      for (let at = 0; at < counted[when]; at += stride) {
        const again = await inMemory((store) => live(store, { at, when }, options));
        if (when === 'asking' && !again.crashed) break;
        assert.ok(again.crashed);
        const label = `${when} ${at}`;
        const { tokens: _, ...ended } = again.result;
        const { tokens: __, ...expected } = whole.result;
        assert.deepEqual(ended, expected, label);
        assert.equal(new Set(again.world).size, again.world.length, `a call was made twice: ${label}`);
        const kinds = again.entries.map(({ kind }) => kind);
        assert.equal(kinds.filter((kind) => kind === 'user').length, 1, label);
        if (when === 'after' && again.stored === 'summary') {
          assert.equal(again.summarised.length, whole.summarised.length, `compacted anew: ${label}`);
        }
        if (when === 'after') {
          const told = again.summarised.join('');
          for (const id of again.world) {
            assert.ok(told.split(`done ${id} `).length <= 2, `${id} was summarised twice: ${label}`);
          }
        }
      }
    }
  });
}

test('M7 M9 damaged entries before a summary break no pairs, and the request stays in view', async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-compaction-'));
  t.after(() => rmSync(dir, { recursive: true }));
  for (let damaged = 0; damaged < 30; damaged++) {
    const file = path.join(dir, `${damaged}.db`);
    const store = await openStore(`sqlite:${file}`, { clock: createManualClock(), log: quietLog() });
    const { commits } = await live(store, undefined);
    const db = new DatabaseSync(file);
    db.prepare(`UPDATE entries SET entry = '{"kind' WHERE seq = ?`).run(damaged + 1);
    db.close();
    const read = await store.transcripts.read('t');
    assert.equal(read.damaged, damaged <= commits ? 1 : 0);
    const next: Entry = { kind: 'user', item: 'n', sender: 'telegram:42', content: 'and next?', at: 2 };
    const model = scriptedModel(
      (request) => {
        assert.equal(refusalOf(request), undefined, `entry ${damaged}`);
        return isSummaryRequest(request) ? 'SUMMARY' : 'fine';
      },
      { contextWindow: damaged % 2 === 0 ? 2_000 : 100_000 },
    );
    const ended = await runLoop(
      {
        system: [],
        entries: [...read.entries.map(({ entry }) => entry), next],
        maxIterations: 5,
      },
      {
        model,
        tools: () => [],
        callTool: () => Promise.reject(new Error('never called')),
        append: (entry) => store.commit({ entries: [{ transcript: 't', entry }] }),
        signal: new AbortController().signal,
        clock: createManualClock(),
      },
    );
    assert.equal(ended.text, 'fine');
    const shown = JSON.stringify(model.requests.at(-1)?.messages);
    assert.match(shown, /and next\?/);
    if (damaged % 2 === 1 && damaged > 0) assert.match(shown, /the REQUEST/);
    await store.close();
  }
});

test('Q5 an entry that was damaged before a summary was made is not counted as kept', async (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-compaction-'));
  t.after(() => rmSync(dir, { recursive: true }));
  const store = await openStore(`sqlite:${dir}/s.db`, { clock: createManualClock(), log: quietLog() });
  const texts = ['1', '2', '3', '4', '5'];
  const said = texts.map((text): Entry => ({ kind: 'notice', text, at: 1 }));
  await store.commit({ entries: said.map((entry) => ({ transcript: 't', entry })) });
  const db = new DatabaseSync(path.join(dir, 's.db'));
  const harm = db.prepare(`UPDATE entries SET entry = 'gone' WHERE seq = ?`);
  for (const seq of [3, 4]) harm.run(seq);
  const summary = (text: string): Entry => ({
    kind: 'summary',
    text,
    kept: 2,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    at: 1,
  });
  await store.commit({ entries: [{ transcript: 't', entry: summary('made without 3 and 4') }] });
  const read = await store.transcripts.read('t');
  assert.deepEqual(
    read.entries.map(({ entry }) => ('text' in entry ? entry.text : '')),
    ['2', '5', 'made without 3 and 4'],
  );
  assert.equal(read.damaged, 2);
  await store.commit({ entries: [{ transcript: 't', entry: summary('newer') }] });
  harm.run(7);
  const older = await store.transcripts.read('t');
  assert.equal(
    older.entries.at(-1)?.entry.kind,
    'summary',
    'with the newest damaged, the one before it counts',
  );
  assert.equal(older.entries.length, 3);
  db.close();
  await store.close();
});
