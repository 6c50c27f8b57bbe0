import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { z } from 'zod';
import { readConfigFile } from '../../src/config/load-config.ts';
import { checkPluginConfig } from '../../src/config/plugin-config.ts';

async function check(t: TestContext, config: string, schema: z.ZodType | undefined, env = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-config-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'config.toml');
  await writeFile(file, `[[plugins]]\npath = "a"\n\n[[plugins]]\npath = "b"\n${config}\n`);
  const parsed = await readConfigFile({ file, env });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const checked = checkPluginConfig(parsed.config, 1, schema);
  if (checked.ok) return checked.value;
  return checked.messages.map((message) => message.replace(file, 'FILE'));
}

const weather = z.object({
  units: z.enum(['metric', 'imperial']).default('metric'),
  api_key: z.string(),
  places: z.array(z.object({ name: z.string() })).default([]),
  days: z.int().max(10).optional(),
});

test('X1 the config of a plugin is checked by its schema, defaults filled in', async (t) => {
  assert.deepEqual(await check(t, 'config = { api_key = "$KEY" }', weather, { KEY: 'k3y-from-env' }), {
    api_key: 'k3y-from-env',
    units: 'metric',
    places: [],
  });
  assert.deepEqual(await check(t, '', undefined), {});
  assert.deepEqual(await check(t, 'config = { anything = 1 }', z.looseObject({})), { anything: 1 });
});

test('X6 G2 what is wrong is told with file, line, key, what was found and what to write, all at once', async (t) => {
  const config = '[plugins.config]\nunits = "kelvin"\ndays = 12\nplaces = [{ name = 3 }]\nunit = "x"';
  assert.deepEqual(await check(t, config, weather), [
    'FILE:10:1: plugins[1].config.unit is not a known key: did you mean units?',
    'FILE:7:1: plugins[1].config.units is "kelvin": write "metric" or "imperial".',
    'FILE:6:1: plugins[1].config.api_key is missing: write text in quotes.',
    'FILE:9:13: plugins[1].config.places[0].name is 3: write text in quotes.',
    'FILE:8:1: plugins[1].config.days is 12: write 10 or less.',
  ]);
});

test('X6 a plugin without a schema takes no config, and the words of a schema of its own win', async (t) => {
  assert.deepEqual(await check(t, 'config = { a = 1 }', undefined), [
    'FILE:6:12: plugins[1].config.a is not a known key: this plugin takes no config, so remove it.',
  ]);
  const even = z.object({ n: z.int().refine((n) => n % 2 === 0, 'write an even number') });
  assert.deepEqual(await check(t, 'config = { n = 3 }', even), [
    'FILE:6:12: plugins[1].config.n is 3: write an even number.',
  ]);
});

test('X6 G5 a secret is not shown where it is wrong', async (t) => {
  const long = z.object({ api_key: z.string().min(50), token: z.int(), city: z.int() });
  const config = 'config = { api_key = "sk-secret-1", token = "tok-secret-2", city = "$CITY" }';
  const said = (await check(t, config, long, { CITY: 'from-env-3' })) as readonly string[];
  assert.equal(said.length, 3);
  for (const secret of ['secret-1', 'secret-2', 'from-env-3'])
    assert.ok(!said.join().includes(secret), secret);
  assert.match(said[2]!, /the value of \$CITY/);
});
