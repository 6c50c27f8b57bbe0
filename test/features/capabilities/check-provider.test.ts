import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import type { BridgeProvider } from '../../../src/core/bridge-provider.ts';
import { checkProvider, type CheckOptions } from '../../../providers/check/check-provider.ts';
import { openCliHome } from '../../support/run-cli.ts';
import { openTallyProvider, tallyMissing } from '../../support/tally-provider.ts';

const skip = tallyMissing();

const check = (t: TestContext, provider: BridgeProvider, more: Partial<CheckOptions> = {}) =>
  checkProvider(provider, {
    ...{ env: process.env, mutate: [], inputs: {}, signal: t.signal, onResult: () => undefined },
    ...more,
  });

/** Makes the provider's file, and somebody's counter in it. */
async function link({ command }: BridgeProvider, user: string): Promise<void> {
  const database = new DatabaseSync(path.join(command.at(-1) ?? '', 'tally.db'));
  database.exec('CREATE TABLE IF NOT EXISTS counters (user TEXT PRIMARY KEY, value INTEGER NOT NULL)');
  database.prepare('INSERT INTO counters VALUES (?, 0)').run(user);
  database.close();
}

const everything = { user: 'telegram:42', account: 'counter', mutate: ['tally.counter:bump'] };

test('C2 a provider that keeps to the contract passes every check', { skip }, async (t) => {
  const provider = await openTallyProvider(t);
  await link(provider, 'telegram:42');
  const results = await check(t, provider, everything);
  assert.deepEqual(
    results.filter(({ verdict }) => verdict !== 'ok'),
    [],
  );
  assert.ok(results.length > 35, String(results.length));
});

test('C3 each check that a provider leaves out is found', { skip }, async (t) => {
  const provider = await openTallyProvider(t);
  const [, , , script = '', folder = ''] = provider.command;
  let text = await readFile(script, 'utf8');
  for (const [right, wrong] of [
    ['claims.get("aud") != NAMESPACE', 'False'],
    ['not begins - 5 <= now <= ends + 5', 'False'],
    ['.rowcount == 0', '.rowcount == 7'],
    ['not signature_holds(', 'None is signature_holds('],
    ['if claims.get(name) != value:', 'if claims.get(name) is NotImplemented:'],
    ['request.get("version") != 1', 'False'],
    ['WHERE ref = ? AND user = ?", (ref, user)', 'WHERE ref = ?", (ref,)'],
    ['if known is not None', 'if known is NotImplemented'],
    ['INSERT INTO outcomes', 'INSERT OR REPLACE INTO outcomes'],
    ['if not key:', 'if key == 0:'],
    ['Refusal("not_found", "there is no such operation")', 'Refusal("auth_required", "no")'],
    ['"text": {"type": "string"}', '"text": {"type": "integer"}'],
  ] as const) {
    assert.ok(text.includes(right), right);
    text = text.replace(right, wrong);
  }
  const careless = path.join(folder, 'careless.py');
  await writeFile(careless, text);
  const command = provider.command.map((word) => (word === script ? careless : word));
  await link(provider, 'telegram:42');
  const results = await check(t, { ...provider, command }, everything);
  const wrong = results.filter(({ verdict }) => verdict === 'failed').map(({ what }) => what);
  assert.deepEqual(wrong, [
    'another version is refused by an error',
    ...[
      'that was used before',
      'whose person was changed',
      'signed with another key',
      'for another provider',
      'that is two minutes old',
      'that is issued two minutes from now',
      'for another method',
      'for another capability',
      'for another operation',
      'for another account',
      'for another input',
      'whose input was changed afterwards',
    ].map((what) => `a token ${what} is refused with capability_access_denied`),
    'an unknown operation is capability_not_found',
    'somebody else can not go on with the flow',
    // It was somebody else who went on.
    'auth_poll says that nobody has confirmed yet',
    'tally.counter:about answers what it defines',
    'tally.counter:bump without an idempotency key is refused',
    'tally.counter:bump is done once for one key, and answered the same',
  ]);
  assert.ok(results.every(({ verdict, why, fix }) => verdict !== 'failed' || (why && fix)));
});

/** Answers definitions in sh, after doing something first. */
const shell = (before: string, definitions = '[]'): BridgeProvider => {
  const id = `id=$(printf %s "$line" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')`;
  const answer = `printf '{"version":1,"id":"%s","result":{"definitions":${definitions}}}\\n' "$id"`;
  return {
    ...{ namespace: 'shell', timeoutSeconds: 5 },
    command: ['sh', '-c', `read -r line; ${id}; ${before} ${answer}`],
  };
};

test('C2 words on standard output, a bad exit and a wrong id are found and explained', async (t) => {
  for (const [before, found] of [
    ['echo "Starting up";', /besides the one JSON object: Starting up/],
    ['trap "exit 3" EXIT; echo oh no >&2;', /exit code 3 \(on standard error: oh no\)/],
    ['id=other;', /carries the id other/],
    ['exit 0;', /wrote nothing/],
  ] as const) {
    const [first, ...rest] = await check(t, shell(before));
    assert.deepEqual([first?.verdict, rest.map(({ verdict }) => verdict)], ['failed', ['skipped']]);
    assert.match(first?.found ?? '', found);
  }
});

test('C1 ids of another namespace and schemas that can not be used are found', async (t) => {
  const operation = '{"description":"x","input_schema":{"type":"object","allOf":[{"$ref":"#/$defs/gone"}]}}';
  const definitions = `[{"id":"other.one","description":"x","operations":{"do":${operation}}}]`;
  const found = (await check(t, shell('', definitions))).filter(({ verdict }) => verdict === 'failed');
  const [id, schema] = found.slice(0, 2).map((result) => result.found);
  assert.equal(id, 'other.one');
  assert.match(schema ?? '', /other\.one do input: it refers to #\/\$defs\/gone/);
});

test('C2 capability check says what, why and how to mend it, and ends with 0, 1 or 2', async (t) => {
  const home = await openCliHome(t);
  const { command } = shell('echo hello;');
  await home.write(
    'config.toml',
    `[capabilities.providers.shell]\ncommand = ${JSON.stringify(command)}\ntimeout_seconds = 5\n`,
  );
  const [wrong, unknown] = [
    await home.run(['capability', 'check', 'shell']),
    await home.run(['capability', 'check', 'nothing']),
  ];
  assert.equal(wrong.code, 1, wrong.stderr);
  assert.match(wrong.stdout, /^FAIL {2}definitions are .*\n {6}found: .*hello.*\n {6}why: .*\n {6}fix: /);
  assert.match(wrong.stdout, /0 right, 1 wrong, 1 not tried/);
  assert.deepEqual([unknown.code, /Set up are: shell/.test(unknown.stderr)], [2, true]);
});
