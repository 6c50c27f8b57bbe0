import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatConfigProblem } from '../../src/config/config-problem.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

function problems(...lines: readonly string[]): readonly string[] {
  const parsed = parseConfig(['[tools.web_search]', ...lines].join('\n'), { env: { KEY: 'a-key-of-brave' } });
  return parsed.ok ? [] : parsed.problems.map(formatConfigProblem);
}

test('T2 G2 web_search needs what its provider needs, and says so', () => {
  assert.deepEqual(problems('provider = "brave"', 'api_key = "$KEY"'), []);
  assert.deepEqual(problems('provider = "searxng"', 'base_url = "http://127.0.0.1:8080/x"'), []);
  assert.match(problems('provider = "brave"').join(), /tools\.web_search\.api_key .*"\$BRAVE_API_KEY"/);
  assert.match(
    problems('provider = "searxng"').join(),
    /tools\.web_search\.base_url .*http:\/\/127\.0\.0\.1:8080/,
  );
  assert.match(problems('provider = "google"').join(), /provider is "google": write .*brave.*searxng/);
  assert.match(
    problems('provider = "brave"', 'api_key = "x"', 'key = "y"').join(),
    /key is not a known key: did you mean api_key/,
  );
});

test('G5 the key of web_search is a secret, the settings of other tools stay plain data', () => {
  const parsed = parseConfig(
    '[tools.web_search]\nprovider = "brave"\napi_key = 7\n[tools.other]\na = { b = 1 }',
    { env: {} },
  );
  assert.ok(!parsed.ok);
  assert.match(parsed.problems.map(formatConfigProblem).join(), /api_key is a number/);
  const good = parseConfig('[tools.other]\na = { b = 1 }', { env: {} });
  assert.ok(good.ok);
  assert.deepEqual(good.config.tools['other'], { a: { b: 1 } });
  assert.equal(good.config.tools.web_search, undefined);
});
