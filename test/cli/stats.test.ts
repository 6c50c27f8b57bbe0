import assert from 'node:assert/strict';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { RunRow } from '../../src/store/store.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';

const tokens = { input: 100_000, output: 2_000, cacheRead: 0, cacheWrite: 0 };

/** A home whose store has one use on each of these days, and these runs. */
async function usedOn(
  t: TestContext,
  days: readonly string[],
  runs: readonly RunRow[] = [],
  timezone = 'UTC',
): Promise<CliHome> {
  const home = await openCliHome(t);
  const model =
    'model = "claude-sonnet-5-5"\napi_key = "test-key-0123456789"\nprice_in = 3\nprice_out = 15\n';
  await home.write(
    'config.toml',
    `[bot]\ndata_dir = "./data"\ntimezone = "${timezone}"\n[models.default]\n${model}`,
  );
  const store = await openStore(`sqlite:${path.join(home.folder, 'data/skillet.db')}`);
  const of = { conversation: 'telegram:42', sender: 'telegram:42', skill: '=1+1, "x"' };
  await store.commit({ usage: days.map((day) => ({ ...of, day, model: 'default', tokens })), runs });
  await store.close();
  return home;
}

function ran(id: string, change: Partial<RunRow> = {}): RunRow {
  return {
    ...{ id, day: '2025-10-01', conversation: 'telegram:42', sender: 'telegram:42', skill: 'dice' },
    ...{ model: 'default', steps: 4, failed: false, at: Date.UTC(2025, 9, 1, 12), ...change },
  };
}

test('U10 U12 stats tells the runs of each skill, their steps, how many failed, and when it was used last', async (t) => {
  const long = 'a-skill-whose-name-needs-some-room';
  const runs = [
    ran('1'),
    ran('2', { failed: true }),
    ran('3', { day: '2025-10-31', at: Date.UTC(2025, 9, 31, 23, 30) }),
    ran('4', { skill: long, model: '', steps: 0, failed: true }),
  ];
  const home = await usedOn(t, ['2025-10-01'], runs, 'Europe/Zurich');
  const { stdout } = await home.run(['stats', '--month', '2025-10']);
  const lines = stdout.split('\n');
  const at = lines.findIndex((line) => line.startsWith('skill '));
  const cells = lines.slice(at, at + 4).map((line) => line.split(/ {2,}|(?<=room) /));
  assert.deepEqual(cells, [
    ['skill', 'runs', 'steps', 'failed', 'tokens', 'dollars', 'last used'],
    [`=1+1, "x"`, '0', '0', '0', '102,000', '0.33', '2025-10-01'],
    ['dice', '3', '12', '1', '0', '0.00', '2025-11-01'],
    [long, '1', '0', '1', '0', '-', '2025-10-01'],
  ]);
  for (const line of lines.filter((one) => !one.startsWith(long))) assert.ok(line.length <= 80, line);
});

test('U10 U12 stats counts days in the zone of the operator', async (t) => {
  const zones = { 'Pacific/Kiritimati': 14, 'Pacific/Pago_Pago': -11 };
  for (const [zone, hours] of Object.entries(zones)) {
    const there = (at: number): string => new Date(at + hours * 3_600_000).toISOString().slice(0, 10);
    const [yesterday, today] = [there(Date.now() - 86_400_000), there(Date.now())];
    const home = await usedOn(t, [yesterday, today], [], zone);
    const { stdout } = await home.run(['stats', '--days', '1', '--json']);
    // The day may change while the command runs.
    if (there(Date.now()) !== today) return;
    assert.deepEqual(
      (JSON.parse(stdout) as { usage: { day: string }[] }).usage.map(({ day }) => day),
      [today],
      zone,
    );
  }
});

test('U10 U12 stats --month counts the days of that calendar month and no other, whatever --days is', async (t) => {
  const home = await usedOn(t, ['2025-09-30', '2025-10-01', '2025-10-31', '2025-11-01', '2026-10-05']);
  const days = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await home.run(['stats', ...args, '--json']);
    return (JSON.parse(stdout) as { usage: { day: string }[] }).usage.map(({ day }) => day);
  };
  assert.deepEqual(await days('--month', '2025-10'), ['2025-10-01', '2025-10-31']);
  assert.deepEqual(await days('--month', '2025-11', '--days', '1'), ['2025-11-01']);
  assert.equal((await home.run(['stats', '--month', '2025-12'])).stdout, 'No model was used in 2025-12.\n');
  for (const wrong of ['2025-13', '2025-00', '2025-1', 'October', '2025-10-01', '']) {
    const refused = await home.run(['stats', '--month', wrong]);
    assert.deepEqual([refused.code, /such as 2026-10/.test(refused.stderr)], [2, true], wrong);
  }
});

test('U10 U12 stats shows each day of a month', async (t) => {
  const month = Array.from({ length: 31 }, (_, index) => `2025-10-${String(index + 1).padStart(2, '0')}`);
  const home = await usedOn(t, month);
  const { stdout } = await home.run(['stats', '--month', '2025-10']);
  assert.deepEqual(stdout.match(/^\d{4}-\d\d-\d\d/gm), month);
});

test('U10 U12 stats --csv has a row for each sum, and no cell that a spreadsheet runs', async (t) => {
  const home = await usedOn(t, ['2025-10-01'], [ran('1', { skill: '=1+1, "x"', failed: true })]);
  const { stdout } = await home.run(['stats', '--month', '2025-10', '--csv']);
  assert.equal(
    stdout,
    'day,person,conversation,skill,model,requests,input,output,cache_read,cache_write,dollars,runs,steps,failures,last_run\n' +
      `2025-10-01,telegram:42,telegram:42,"'=1+1, ""x""",default,1,100000,2000,0,0,0.330000,1,4,1,2025-10-01T12:00:00.000Z\n`,
  );
  const none = await home.run(['stats', '--month', '2025-09', '--csv']);
  assert.equal(none.stdout.trim().split('\n').length, 1, 'only its head');
});
