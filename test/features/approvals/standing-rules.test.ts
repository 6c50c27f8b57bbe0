import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listRules, createStandingRules } from '../../../src/features/approvals/standing-rules.ts';
import type { AuditEvent } from '../../../src/audit/audit-event.ts';
import { openStore } from '../../../src/store/open-store.ts';

const chat = { chat: 'telegram:42', sender: 'telegram:42' };

test('T8 X7 a rule stands for one definition of a tool: for no other one, and one that was said before there were editions for none', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const rules = createStandingRules({
    stored: store.keyed('standing-rules'),
    audit: { record: async () => undefined },
  });
  await rules.add({ tool: 'mcp_files_old', ...chat }, chat.sender, 1);
  await rules.add({ tool: 'mcp_files_echo', definitionHash: 'server.one', ...chat }, chat.sender, 2);
  await rules.add({ tool: 'write_file', skill: 'notes', files: 'of notes', ...chat }, chat.sender, 3);

  assert.equal(await rules.covers({ tool: 'mcp_files_echo', definitionHash: 'server.one', ...chat }), true);
  assert.equal(await rules.covers({ tool: 'mcp_files_echo', definitionHash: 'server.two', ...chat }), false);
  assert.equal(await rules.covers({ tool: 'mcp_files_old', definitionHash: 'server.one', ...chat }), false);
  assert.equal(await rules.covers({ tool: 'write_file', skill: 'notes', files: 'of notes', ...chat }), true);

  const shown = async (definitionHashes: Readonly<Record<string, string>>) =>
    listRules(await rules.list(), new Map(Object.entries(definitionHashes))).map(({ tool, counts }) => [
      tool,
      counts,
    ]);
  const now = { mcp_files_old: 'server.old', mcp_files_echo: 'server.one' };
  assert.deepEqual(await shown(now), [
    ['mcp_files_old', false],
    ['mcp_files_echo', true],
    ['write_file', true],
  ]);
  assert.deepEqual(await shown({ ...now, mcp_files_echo: 'server.two' }), [
    ['mcp_files_old', false],
    ['mcp_files_echo', false],
    ['write_file', true],
  ]);
  assert.deepEqual((await shown({}))[1], ['mcp_files_echo', false], 'the tool is off or gone');
});

test('T8 "Always" is not offered for bash, and a stored rule for it has no effect and is listed as such', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const rules = createStandingRules({
    stored: store.keyed('standing-rules'),
    audit: { record: async () => undefined },
  });
  for (const tool of ['bash', 'skills_run_script']) await rules.add({ tool, ...chat }, chat.sender, 1);
  assert.equal(await rules.covers({ tool: 'bash', ...chat }), false);
  assert.equal(await rules.covers({ tool: 'skills_run_script', ...chat }), true);
  const listed = listRules(await rules.list(), new Map()).map(({ tool, counts }) => [tool, counts]);
  assert.deepEqual(Object.fromEntries(listed), { bash: false, skills_run_script: true });
});

test('T8 Q12 a rule is bound to files, chat and person; it is stored when it is told, and goes with who allowed it', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const stored = store.keyed('standing-rules');
  const slow = Promise.withResolvers<void>();
  const late = new Proxy(stored, {
    get: (target, name) => {
      const own: unknown = Reflect.get(target, name, target);
      if (typeof own !== 'function') return own;
      if (name !== 'set') return own.bind(target) as unknown;
      return async (...of: Parameters<typeof stored.set>) => slow.promise.then(() => target.set(...of));
    },
  });
  const rules = createStandingRules({ stored: late, audit: { record: async () => undefined } });
  const rule = { tool: 'write_file', skill: 'notes', files: 'of notes', ...chat };
  let told = false;
  const adding = rules.add(rule, 'telegram:7', 1).then(() => (told = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(told, false, 'nobody hears of a rule that is not stored');
  slow.resolve();
  await adding;
  for (const other of [{ files: 'others' }, { chat: 'telegram:-1' }, { sender: 'telegram:43' }])
    assert.equal(await rules.covers({ ...rule, ...other }), false);
  assert.equal(await rules.covers(rule), true);
  await rules.forget('telegram:7');
  assert.equal(await rules.covers(rule), false, 'who allowed it is forgotten');
  await rules.add(rule, 'telegram:7', 2);
  await rules.forget(chat.sender);
  assert.deepEqual(await rules.list(), []);
});

test('T8 L6 rules are listed by age, revoked once by their id, and all of it is on record', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const recorded: AuditEvent[] = [];
  const rules = createStandingRules({
    stored: store.keyed('standing-rules'),
    audit: { record: async (event) => void recorded.push(event) },
  });
  await rules.add({ tool: 'write_file', skill: 'notes', files: 'of notes', ...chat }, 'telegram:7', 2);
  await rules.add({ tool: 'web_fetch', ...chat }, chat.sender, 1);
  const [oldest, newest] = await rules.list();
  assert.deepEqual([oldest?.tool, newest?.tool], ['web_fetch', 'write_file']);
  assert.match(oldest?.id ?? '', /^[0-9a-f]{12}$/);

  assert.equal(await rules.revoke('nothing'), undefined);
  // Of two at once, one finds it.
  const both = await Promise.all([rules.revoke(newest?.id ?? ''), rules.revoke(newest?.id ?? '')]);
  assert.deepEqual(
    both.filter((found) => found !== undefined),
    [newest],
  );
  assert.deepEqual(await rules.list(), [oldest]);
  const { sender } = chat;
  assert.deepEqual(recorded, [
    {
      event: 'standing_rule',
      verdict: 'added',
      tool: 'write_file',
      skill: 'notes',
      sender,
      by: 'telegram:7',
    },
    { event: 'standing_rule', verdict: 'added', tool: 'web_fetch', skill: undefined, sender, by: sender },
    {
      event: 'standing_rule',
      verdict: 'revoked',
      tool: 'write_file',
      skill: 'notes',
      sender,
      by: 'telegram:7',
    },
  ]);
  await rules.forget('telegram:8');
  assert.deepEqual(await rules.list(), [oldest], 'others stay');
});

test('T8 no two rules are the same because their parts run together', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const rules = createStandingRules({
    stored: store.keyed('standing-rules'),
    audit: { record: async () => undefined },
  });
  await rules.add({ tool: 'write_file', ...chat }, chat.sender, 1);
  for (const other of [
    { skill: 'notes' },
    { files: 'of notes' },
    { definitionHash: 'one' },
    { tool: 'write' },
  ])
    assert.equal(await rules.covers({ tool: 'write_file', ...chat, ...other }), false);
});
