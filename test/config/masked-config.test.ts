import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../src/config/complete-config.ts';
import { maskedConfig, showConfig } from '../../src/config/secrets-of-config.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { secretsOfConfig } from '../../src/config/secrets-of-config.ts';

const env = {
  TOKEN: '123:canary-token',
  KEY: 'canary-skill-key',
  WEATHER: 'canary-weather',
  ANTHROPIC_API_KEY: 'canary-anthropic',
  DATA: 'canary-data-dir',
};
const text = `
[bot]
data_dir = "$DATA"
[telegram]
token = "$TOKEN"
[slack]
bot_token = "canary-literal-bot"
app_token = "canary-literal-app"
[skills.mail]
enabled = true
MAIL_KEY = "$KEY"
OTHER = "short1"
[tools.web_search]
provider = "brave"
api_key = "canary-brave"
[tools.weather]
place = "$WEATHER"
deep = { auth = ["canary-deep"] }
[mcp.files]
command = "run"
args = ["--token", "$KEY"]
env = { PLAIN = "canary-mcp-env" }
[mcp.web]
url = "https://x.example/?api_key=canary-query&page=2"
headers = { Authorization = "canary-header" }
[store]
url = "postgres://bot:canary-password@db.example/skillet"
`;

function configOf(toml: string): Config {
  const parsed = parseConfig(toml, { file: '/etc/config.toml', env });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.config;
}

test('G5 L1 config show has no secret in it: variables by name, others as [secret]', () => {
  const config = configOf(text);
  const shown = showConfig(config);
  assert.doesNotMatch(shown, /canary|short1/);
  assert.doesNotMatch(JSON.stringify(maskedConfig(config)), /canary|short1/);
  const { telegram, slack, skills, tools, mcp, store, models } = maskedConfig(config) as Record<
    string,
    Record<string, unknown>
  >;
  assert.equal(telegram?.['token'], '$TOKEN');
  assert.equal(slack?.['bot_token'], '[secret]');
  assert.deepEqual(skills?.['mail'], { enabled: true, MAIL_KEY: '$KEY', OTHER: '[secret]' });
  assert.deepEqual(tools?.['web_search'], { provider: 'brave', api_key: '[secret]' });
  assert.deepEqual(tools?.['weather'], { place: '$WEATHER', deep: { auth: ['[secret]'] } });
  assert.deepEqual((mcp?.['files'] as Record<string, unknown>)['args'], ['--token', '$KEY']);
  assert.equal(
    (mcp?.['web'] as Record<string, unknown>)['url'],
    'https://x.example/?api_key=[secret]&page=2',
  );
  assert.equal(store?.['url'], 'postgres://bot:[secret]@db.example/skillet');
  assert.equal((models?.['default'] as Record<string, unknown>)['api_key'], '$ANTHROPIC_API_KEY');
});

test('G5 a value from the environment is not shown where another value was made of it either', () => {
  const shown = showConfig(configOf('[bot]\ndata_dir = "$DATA"'));
  assert.match(shown, /^data_dir = "\$DATA"$/m);
  assert.match(shown, /^url = "sqlite:.*\[redacted DATA\]\/skillet\.db"$/m);
});

test('L1 config show speaks the language of the file', () => {
  const config = configOf('[access.chats."slack:C1"]\ngroup_users = ["*"]\n[skills.a]\nenv_in_bash = true');
  const shown = showConfig(config);
  assert.match(shown, /^\[access\.chats\."slack:C1"\]\ngroup_users = \[ "\*" \]$/m);
  assert.match(shown, /^\[skills\.a\]\nenv_in_bash = true$/m);
  const again = parseConfig(shown, { file: '/etc/config.toml', env });
  assert.ok(again.ok, 'what is shown is a config file');
});

test('S2 a key that a model does not have is no secret, so no word of an answer is taken for it', () => {
  const local = parseConfig('[models.default]\nmodel = "local"\nbase_url = "http://127.0.0.1:1"\n', {
    env: {},
  });
  assert.ok(local.ok);
  assert.deepEqual(secretsOfConfig(local.config), []);
});

test('S2 every secret of the config is known to redaction by the name the operator gave it', () => {
  const secrets = new Map(secretsOfConfig(configOf(text)).map(({ name, value }) => [value, name]));
  const expected: Record<string, string> = {
    [env.TOKEN]: 'TOKEN',
    'canary-literal-bot': 'slack.bot_token',
    'canary-literal-app': 'slack.app_token',
    'canary-brave': 'tools.web_search.api_key',
    [env.WEATHER]: 'WEATHER',
    'canary-deep': 'tools.weather.deep.auth[0]',
    'canary-mcp-env': 'mcp.files.env.PLAIN',
    'canary-header': 'mcp.web.headers.Authorization',
    'canary-password': 'store.url password',
    short1: 'OTHER',
  };
  for (const [value, name] of Object.entries(expected)) assert.equal(secrets.get(value), name);
  assert.ok(secrets.has(env.KEY) && secrets.has(env.ANTHROPIC_API_KEY));
  assert.ok(!secrets.has(env.DATA) && !secrets.has('brave'), 'what is no secret stays readable');
});
