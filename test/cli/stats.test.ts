import assert from 'node:assert/strict';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';

const tokens = { input: 100_000, output: 2_000, cacheRead: 0, cacheWrite: 0 };

/** A home whose store has one use on each of these days. */
async function usedOn(t: TestContext, days: readonly string[]): Promise<CliHome> {
  const home = await openCliHome(t);
  const model =
    'model = "claude-sonnet-5-5"\napi_key = "test-key-0123456789"\nprice_in = 3\nprice_out = 15\n';
  await home.write('config.toml', `[bot]\ndata_dir = "./data"\n[models.default]\n${model}`);
  const store = await openStore(`sqlite:${path.join(home.folder, 'data/skillet.db')}`);
  const of = { conversation: 'telegram:42', sender: 'telegram:42', skill: '=1+1, "x"' };
  await store.commit({ usage: days.map((day) => ({ ...of, day, model: 'default', tokens })) });
  await store.close();
  return home;
}

test('U10 U12 stats --month counts the days of that calendar month and no other, whatever --days is', async (t) => {
  const home = await usedOn(t, ['2025-09-30', '2025-10-01', '2025-10-31', '2025-11-01', '2026-10-05']);
  const days = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await home.run(['stats', ...args, '--json']);
    return (JSON.parse(stdout) as { day: string }[]).map(({ day }) => day);
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
  const home = await usedOn(t, ['2025-10-01']);
  const { stdout } = await home.run(['stats', '--month', '2025-10', '--csv']);
  assert.equal(
    stdout,
    'day,person,conversation,skill,model,requests,input,output,cache_read,cache_write,dollars\n' +
      `2025-10-01,telegram:42,telegram:42,"'=1+1, ""x""",default,1,100000,2000,0,0,0.330000\n`,
  );
  const none = await home.run(['stats', '--month', '2025-09', '--csv']);
  assert.equal(none.stdout.trim().split('\n').length, 1, 'only its head');
});
