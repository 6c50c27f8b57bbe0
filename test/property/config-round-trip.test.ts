import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'smol-toml';
import { parseConfig } from '../../src/config/parse-config.ts';
import { writtenConfig } from '../../src/config/complete-config.ts';
import { equalData } from '../support/equal-data.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
const surroundings = { file: '/etc/bot/config.toml', env: {}, cwd: '/', home: '/home/op' };

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,7}$/);
const variable = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,7}$/);
const text = fc.string({ minLength: 1, maxLength: 12 }).filter((one) => !/[$%{]|env:/.test(one));
const user = fc.oneof(
  fc.nat(),
  fc.nat().map((id) => `telegram:${id}`),
  fc.constant('slack:U042'),
);
const owner = fc.oneof(
  fc.nat().map((id) => `telegram:${id}`),
  fc.constant('slack:U042'),
);
/** On Telegram below zero. */
const group = fc.oneof(
  fc.nat().map((id) => -1 - id),
  fc.nat().map((id) => `telegram:-${id + 1}`),
  fc.nat().map((id) => `slack:C${id}`),
);
const chat = fc.oneof(
  fc.integer(),
  fc.integer().map((id) => `telegram:${id}`),
  fc.constant('slack:C042'),
);
const some = <T>(keys: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) => fc.record(keys, { requiredKeys: [] });
const level = {
  users: fc.array(fc.oneof(user, fc.constant('slack:*'))),
  groups: fc.array(group),
  group_users: fc.array(fc.oneof(user, fc.constant('*'))),
  dm: fc.constantFrom('pairing', 'allowlist', 'open'),
  groups_mode: fc.constantFrom('allowlist', 'open'),
  mention: fc.constantFrom('required', 'always'),
};
const skill = fc
  .tuple(
    some({
      enabled: fc.boolean(),
      allow_chat_ids: fc.array(chat),
      allow_users: fc.array(user),
      sensitive: fc.boolean(),
      chat_types: fc.array(fc.constantFrom('private', 'group', 'channel', 'supergroup', 'dm', 'im', 'mpim')),
      capability_provider: some({
        command: fc.constantFrom('a b', ['a', 'b c']),
        timeout_seconds: fc.constant(5),
      }),
    }),
    fc.dictionary(variable, text),
  )
  .map(([known, env]) => ({ ...known, ...env }));
const alias = fc.oneof(
  text,
  fc.record(
    {
      model: text,
      base_url: fc.constant('http://127.0.0.1:1/x'),
      api_key: text,
      thinking: fc.constantFrom('off', 2048),
      price_in: fc.float({ min: 0, max: 100, noNaN: true }),
    },
    { requiredKeys: ['model'] },
  ),
);
const plain = fc.dictionary(
  word,
  fc.oneof(text, fc.boolean(), fc.integer(), fc.array(text), fc.dictionary(word, text)),
);
const file = some({
  bot: some({ name: text, owner: fc.array(owner), workspace: fc.constantFrom('~/w', 'w', '/w') }),
  access: some({ ...level, telegram: some(level), chats: fc.dictionary(chat.map(String), some(level)) }),
  models: fc.dictionary(fc.constantFrom('default', 'haiku', 'x', 'y-z'), alias),
  skills: fc
    .tuple(
      some({ strict: fc.boolean(), defaults: some({ allow_chat_ids: fc.array(chat) }) }),
      fc.dictionary(word, skill),
    )
    .map(([known, skills]) => ({ ...skills, ...known })),
  limits: some({ runs_per_hour: fc.nat(), chat: some({ tokens_per_day: fc.nat() }) }),
  policy: some({
    safe: fc.constant('deny'),
    rules: fc.array(fc.record({ tool: text, action: fc.constant('confirm') })),
  }),
  tools: fc.dictionary(word, plain),
  mcp: fc.dictionary(word, fc.record({ command: text, env: fc.dictionary(variable, text) })),
});

test('G4 a config written out in full and read again is the same config', () => {
  const property = fc.property(file, (settings) => {
    const { limits = {} } = settings;
    // A limit in dollars needs models with prices.
    const free = { usd_per_day: 0 };
    const all = { ...limits, ...free, chat: { ...limits.chat, ...free }, skill: free, global: free };
    const first = parseConfig(stringify({ ...settings, limits: all }), surroundings);
    fc.pre(first.ok || !first.problems.every(({ key = '' }) => /^skills\.[a-z_]+/.test(key)));
    assert.ok(first.ok, JSON.stringify(first));
    const second = parseConfig(stringify(writtenConfig(first.config)), surroundings);
    assert.ok(second.ok, JSON.stringify(second));
    equalData(second.config, first.config);
  });
  fc.assert(property, { numRuns });
});
