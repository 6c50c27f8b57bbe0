import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { makeRoutine } from '../support/routines-contract.ts';
import { openCliHome } from '../support/run-cli.ts';
import { openRunningBot } from '../support/running-bot.ts';

const year = Date.UTC(2099, 0, 1);
const creator = { id: 'telegram:42', name: 'Ann', kind: 'person' } as const;

test('N2 N6 S8 L1 skillet routines lists whose, where, when next and how it went, also while the bot runs', async (t) => {
  const home = await openCliHome(t);
  const none = await home.run(['routines']);
  assert.deepEqual([none.code, none.stdout], [0, 'There are no routines.\n']);
  const store = await openStore(`sqlite:${home.folder}/data/skillet.db`);
  const conversation = { channel: 'telegram', chat: '-100' } as const;
  const definition = {
    ...{ name: 'digest', task: 'canary-task', creator, conversation },
    chatType: 'group',
  } as const;
  const own = makeRoutine('r2', { dueAt: year, definition: { name: 'canary-name', creator } });
  await store.routines.add(makeRoutine('r1', { dueAt: year, definition }), 9);
  const at = Date.UTC(2026, 0, 5, 9);
  await store.routines.settle('r1', { key: 'k', due: at, at, how: 'failed', note: 'canary-note' });
  await store.routines.add(own, 9);
  await store.routines.change('r2', { ...own, state: 'paused', dueAt: undefined });
  await store.close();
  const bot = await openRunningBot(t, home);
  const { code, stdout } = await home.run(['routines']);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^r1 {2}digest {2}of telegram:42 in telegram:-100 {2}next 2099-01-01 .*last 2026-01-05 .* failed {2}failed 1 times$/m,
  );
  assert.match(stdout, /^r2 {2}\(direct\) {2}of telegram:42 in telegram:42 {2}paused$/m);
  const rows = JSON.parse((await home.run(['routines', '--json'])).stdout) as readonly { id: string }[];
  assert.deepEqual(
    rows.map(({ id, state }: { id: string; state?: string }) => [id, state]),
    [
      ['r1', 'active'],
      ['r2', 'paused'],
    ],
  );
  // What it says is its creator's, and what it is called in their direct message (S8).
  assert.doesNotMatch(stdout + JSON.stringify(rows), /canary/);
  await bot.end();
  assert.equal((await home.run(['routines'])).stdout, stdout);
});

test('N2 L1 L6 skillet routine pauses, resumes and removes, with and without a running bot, and the audit says so', async (t) => {
  const home = await openCliHome(t);
  const store = await openStore(`sqlite:${home.folder}/data/skillet.db`);
  await store.routines.add(makeRoutine('r1', { dueAt: year }), 9);
  await store.close();
  const said = async (act: string) => {
    const { stdout, stderr } = await home.run(['routine', act, 'r1']);
    return stdout === '' ? stderr : (JSON.parse(stdout) as unknown);
  };
  assert.deepEqual(await said('pause'), { id: 'r1', state: 'paused' });
  const bot = await openRunningBot(t, home);
  const { state, next } = (await said('resume')) as Readonly<{ state: string; next: number }>;
  assert.equal(state, 'active');
  assert.ok(next > Date.now() && next < year, 'its next time is counted from now');
  assert.deepEqual(await said('remove'), { removed: 'r1' });
  await bot.end();
  assert.match(String(await said('pause')), /there is no routine r1: see `skillet routines`/);
  const { stdout } = await home.run(['audit', 'tail', '--kind', 'routine', '--json']);
  const verdicts = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, string>>);
  assert.deepEqual(
    verdicts.map(({ verdict, by }) => [verdict, by]),
    ['paused', 'resumed', 'removed'].map((verdict) => [verdict, 'operator']),
  );
});
