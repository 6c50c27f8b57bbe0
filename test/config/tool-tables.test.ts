import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { parseConfig } from '../../src/config/parse-config.ts';
import { checkToolTables } from '../../src/config/plugin-config.ts';
import { toolSettings } from '../../src/core/tool-settings.ts';

const weather = {
  name: 'weather',
  settings: toolSettings(
    z.object({
      days: z.int().min(1).max(14).default(3),
      units: z.enum(['metric', 'imperial']).default('metric'),
      pin: z.string().min(8).optional().meta({ secret: true }),
    }),
  ),
};

function problems(toml: string, env: Record<string, string> = {}): readonly string[] {
  const parsed = parseConfig(toml, { env });
  assert.ok(parsed.ok);
  return checkToolTables(parsed.config, [weather, { name: 'plain' }]);
}

test('X3 G2 a table of a tool that is wrong is told by key, with what was found and what to write', () => {
  assert.deepEqual(problems('[tools.weather]\ndays = 0\nunit = "metric"\nunits = "kelvin"'), [
    'tools.weather.days is 0: write a whole number from 1 to 14.',
    'tools.weather.unit is not a known key: did you mean units?',
    'tools.weather.units is "kelvin": write metric or imperial.',
  ]);
  assert.deepEqual(problems('[tools.plain]\na = 1\n[tools.other]\nb = 2'), [
    'tools.plain.a is not a known key: this tool has no settings, so remove it.',
  ]);
  assert.deepEqual(problems('[tools.weather]\ndays = 7\npin = "12345678"'), []);
});

test('X3 G5 no secret is in what is told, whatever its key is called', () => {
  assert.deepEqual(problems('[tools.weather]\npin = "4711"'), [
    'tools.weather.pin is text that is not shown: write text from 8 to 3000 characters.',
  ]);
  assert.match(
    problems('[tools.weather]\npin = "$PIN"', { PIN: '4711' })[0]!,
    /is the value of \$PIN: write/,
  );
});

test('X3 T2 web_search and web_fetch are checked with the rest of the file, by line', () => {
  const toml =
    '[tools.web_search]\nprovider = "searxng"\nbase_url = "http://127.0.0.1:1"\nresult = 3\nlanguage = "English"\n[tools.web_fetch]\ncharacters = 5\n';
  const parsed = parseConfig(toml, { env: {} });
  assert.ok(!parsed.ok);
  assert.deepEqual(
    parsed.problems.map(({ line, message }) => `${line}: ${message}`),
    [
      '4: tools.web_search.result is not a known key: did you mean results?',
      '5: tools.web_search.language is text of 7 characters: write a language in two or three small letters, such as "en".',
      '7: tools.web_fetch.characters is 5: write 1000 or more.',
    ],
  );
});
