import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bridgeResults,
  type CapabilityDefinition,
} from '../../../src/features/capabilities/bridge-contract.ts';
import { configuredProviders } from '../../../src/features/capabilities/configured-providers.ts';
import { findCredential } from '../../../src/features/capabilities/capability-checks.ts';
import { checkDefinitions, createDefinitions } from '../../../src/features/capabilities/definitions.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { systemClock } from '../../../src/lib/clock.ts';

function providersOf(toml: string) {
  const parsed = parseConfig(toml, { env: {}, file: 'config.toml' });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  const { all, problems } = configuredProviders(parsed.config);
  return {
    all: all.map(({ namespace, command, timeoutSeconds }) => [namespace, command.join(' '), timeoutSeconds]),
    problems,
  };
}

test('C1 C9 a preset is wired with its skill, over it goes the skill’s table, over that the namespace’s own', () => {
  assert.deepEqual(providersOf('').all, []);
  const enabled = '[skills.gog]\nenabled = true\n';
  assert.deepEqual(providersOf(enabled).all, [['gog', 'gogcli bridge', 30]]);
  const own = `${enabled}[skills.gog.capability_provider]\ntimeout_seconds = 5\n`;
  assert.deepEqual(providersOf(own).all, [['gog', 'gogcli bridge', 5]]);
  const above = `${own}[capabilities.providers.gog]\ncommand = "other bridge"\n`;
  assert.deepEqual(providersOf(above).all, [['gog', 'other bridge', 30]]);
  assert.deepEqual(providersOf(`${own}[capabilities.providers.gog]\nenabled = false\n`).all, []);
  assert.deepEqual(providersOf(`${enabled}[skills.gog.capability_provider]\nenabled = false\n`).all, []);
  assert.deepEqual(
    providersOf('[skills.gog]\nenabled = false\n[skills.gog.capability_provider]\ntimeout_seconds = 5\n').all,
    [],
  );
});

test('C1 what names no provider is a problem, and two skills on one namespace have none', () => {
  const table = (skill: string) =>
    `[skills.${skill}.capability_provider]\nnamespace = "mail"\ncommand = "x"\n`;
  const both = providersOf(table('one') + table('two'));
  assert.deepEqual(both.all, []);
  assert.match(both.problems.join(), /mail/);
  assert.match(providersOf('[capabilities.providers.mail]\n').problems.join(), /no command/);
  const named = (namespace: string) =>
    providersOf(`[capabilities.providers.mail]\ncommand = "x"\nnamespace = "${namespace}"\n`);
  assert.deepEqual(named('mail'), { all: [['mail', 'x', 30]], problems: [] });
  assert.match(named('post').problems.join(), /call the table \[capabilities\.providers\.post\]/);
  assert.deepEqual(named('post').all, []);
  assert.match(providersOf('[capabilities.providers.Mail]\ncommand = "x"\n').problems.join(), /namespace/);
});

const definition = (more: object): CapabilityDefinition => {
  const operation = { name: 'do', description: 'Does it.' };
  const raw = { id: 'test.one', description: 'One.', operations: [operation], ...more };
  return bridgeResults.definitions.parse({ definitions: [raw] }).definitions[0] as CapabilityDefinition;
};

test('C1 definitions are read with their defaults, and refused where they say too much or what can not be asked', () => {
  const read = checkDefinitions('test', [definition({})]);
  assert.ok(read.ok);
  const one = read.value.get('test.one');
  assert.deepEqual([one?.sensitive, one?.allowed_chat_types], [false, []]);
  const operation = one?.operations.get('do');
  assert.deepEqual([operation?.requires_auth, operation?.mutating], [true, false]);
  const code = (...of: CapabilityDefinition[]) => {
    const checked = checkDefinitions('test', of);
    return checked.ok ? 'ok' : checked.code;
  };
  const bad = (input_schema: object) =>
    definition({ operations: { do: { description: 'Does it.', input_schema } } });
  assert.equal(code(definition({ id: 'other.one' })), 'capability_invalid_output');
  assert.equal(code(definition({}), definition({})), 'capability_invalid_output');
  assert.equal(code(bad({ $ref: 'https://elsewhere/' })), 'capability_invalid_output');
  assert.equal(code(bad({ properties: { a: { $ref: '#/$defs/gone' } } })), 'capability_invalid_output');
  assert.equal(bridgeResults.definitions.safeParse({ definitions: [{ id: 'x' }] }).success, false);
  assert.throws(() => definition({ allowed_chat_types: ['nowhere'] }));
});

test('C1 a provider is asked when it is first needed, once for all who wait, and again after five minutes or a failure', async () => {
  const at = { now: 0, asked: 0, ok: true };
  const definitions = createDefinitions({
    async fetch() {
      at.asked += 1;
      await Promise.resolve();
      return at.ok
        ? { ok: true, value: { definitions: [definition({})] } }
        : { ok: false, code: 'capability_backend_unavailable', message: 'down' };
    },
    clock: { ...systemClock, now: () => at.now },
  });
  const provider = { namespace: 'test', command: ['x'], timeoutSeconds: 30 };
  const { signal } = new AbortController();
  await Promise.all([definitions(provider, signal), definitions(provider, signal)]);
  assert.equal(at.asked, 1);
  await definitions({ ...provider, command: ['y'] }, signal);
  assert.equal(at.asked, 2);
  at.now = 5 * 60_000;
  at.ok = false;
  for (let again = 0; again < 2; again++) await definitions(provider, signal);
  assert.equal(at.asked, 4);
});

test('C5 credential-like keys and values are found, and what only sounds like them is not', () => {
  for (const data of [
    { access_token: 'x' },
    { a: [{ refreshToken: 'x' }] },
    { client_secret: 'x' },
    { 'api-key': 'x' },
    { password: { value: 'x' } },
    { note: `Authorization: Bearer ${'a'.repeat(30)}` },
    { note: '-----BEGIN RSA PRIVATE KEY-----' },
    { note: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'a'.repeat(20)}` },
    [`ghp_${'a'.repeat(36)}`],
  ])
    assert.notEqual(findCredential(data), undefined, JSON.stringify(data));
  for (const data of [
    { next_page_token: 'abc', syncToken: 'def' },
    { has_password: true, token: null, password: '' },
    { text: 'my password is written on a note, the bearer of bad news', tokens: 12 },
    { key: 'C major', author: 'Ann', id: 'eyJ' },
  ])
    assert.equal(findCredential(data), undefined, JSON.stringify(data));
});
