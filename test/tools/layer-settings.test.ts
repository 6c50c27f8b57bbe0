import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { toolSettings } from '../../src/core/tool-settings.ts';
import { layerSettings } from '../../src/tools/settings/settings-in-force.ts';

const settings = toolSettings(
  z
    .object({
      from: z.int().min(0).default(1),
      to: z.int().default(9),
      unit: z.enum(['km', 'mi']).default('km'),
    })
    .refine(({ from, to }) => from <= to, 'from may not be above to'),
);

test('X3 what a chat says wins over config, and config over the default', () => {
  const { values, from, problems } = layerSettings(settings, { from: 2, to: 5, other: 'x' }, { to: 7 });
  assert.deepEqual(values, { from: 2, to: 7 });
  assert.deepEqual(
    [...from],
    [
      ['from', 'config'],
      ['to', 'chat'],
    ],
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(settings.resolve(values), { ok: true, values: { from: 2, to: 7, unit: 'km' } });
});

test('X3 a stored value that the tool does not take any more is passed over and told without the value', () => {
  const layered = layerSettings(settings, { unit: 'mi', from: 'much' }, { unit: 'parsec', gone: 1 });
  assert.deepEqual(layered.values, { unit: 'mi' });
  assert.deepEqual(layered.problems, [
    { layer: 'config', key: 'from', problem: 'write a whole number of at least 0' },
    { layer: 'chat', key: 'unit', problem: 'write km or mi' },
  ]);
  assert.doesNotMatch(JSON.stringify(layered), /parsec|much/);
});

test('X3 values that do not go together give way layer by layer', () => {
  assert.deepEqual(layerSettings(settings, { from: 3 }, { to: 2 }), {
    values: { from: 3 },
    from: new Map([['from', 'config']]),
    problems: [{ layer: 'chat', problem: 'its values can’t be combined' }],
  });
  const both = layerSettings(settings, { from: 30 }, { unit: 'mi' });
  assert.deepEqual(both.values, {});
  assert.deepEqual(both.problems, [{ layer: 'config', problem: 'its values can’t be combined' }]);
});

test('X3 a setting that has to be set and is not takes nothing else away', () => {
  const needy = toolSettings(
    z.object({ token: z.string().meta({ secret: true }), count: z.int().default(1) }),
  );
  assert.deepEqual(layerSettings(needy, { count: 2 }, {}).values, { count: 2 });
});
