import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { operateHere } from '../support/operate-here.ts';
import { openCliHome } from '../support/run-cli.ts';

/** Commands that only read. */
const reading: readonly (readonly string[])[] = [
  ['access', 'explain', 'telegram:42'],
  ['accounts', 'list'],
  ['audit', 'key'],
  ['audit', 'tail'],
  ['audit', 'verify'],
  ['capability', 'accounts'],
  ['capability', 'list'],
  ['completion', 'bash'],
  ['config', 'check'],
  ['config', 'show'],
  ['doctor'],
  ['feedback', 'list'],
  ['hold', 'list'],
  ['inbox', 'list'],
  ['manifest', 'slack'],
  ['mcp', 'list'],
  ['memory', 'list', 'telegram:42'],
  ['memory', 'team'],
  ['outbox', 'list'],
  ['pair', 'list'],
  ['policy', 'list'],
  ['rehearse'],
  ['routines'],
  ['sandbox', 'status'],
  ['skill', 'list'],
  ['skill', 'show', 'dice'],
  ['skill', 'sources'],
  ['stats'],
  ['status'],
  ['tasks'],
];

/** Caches of programs are none of the bot. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)))
    .filter((file) => !file.startsWith('.cache'));
}

test('L1 Q9 a command that reads makes no store, no key and no log in an empty folder', async (t) => {
  for (const args of reading) {
    const home = await openCliHome(t);
    const { stderr } = await home.run(args);
    assert.deepEqual(filesIn(home.folder), [], `${args.join(' ')}: ${stderr}`);
  }
});

test('L1 every operation that reads is called by a command of that table, or by the dashboard alone', async (t) => {
  const { rows } = await operateHere(t);
  const ofPages = [
    'work list',
    'approval list',
    'money list',
    'access decisions',
    'group list',
    'health',
    'names',
    'skill all',
    'skill text',
    'skill written',
    'turn list',
  ];
  // `stats`, `feedback to-test` and `rehearse --model` ask for these among others.
  const parts = ['skill quality', 'feedback case', 'rehearse sample', 'rehearse turn'];
  const names = reading.map((args) => args.slice(0, 2).join(' '));
  const others = [...rows]
    .filter(
      ([name, { readOnly }]) => readOnly && ![...ofPages, ...parts].includes(name) && name !== 'routine list',
    )
    .map(([name]) => name)
    .filter((name) => !names.some((known) => known === name || known.startsWith(`${name} `)));
  assert.deepEqual(others, []);
});

test('L16 a backup is restored into a folder in which somebody looked before', async (t) => {
  const home = await openCliHome(t);
  assert.equal((await home.run(['pair', 'claim'])).code, 0);
  assert.equal((await home.run(['backup', 'all.tar'])).code, 0);
  const other = await openCliHome(t);
  await other.run(['pair', 'list']);
  const restored = await other.run(['restore', path.join(home.folder, 'all.tar')]);
  assert.deepEqual([restored.code, restored.stderr], [0, '']);
  assert.ok(!filesIn(other.folder).some((file) => file.includes('restoring')), filesIn(other.folder).join());
});
