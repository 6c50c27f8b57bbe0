import assert from 'node:assert/strict';
import { createChatSettings } from '../../src/tools/settings/chat-settings.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createAudit } from '../../src/audit/create-audit.ts';
import {
  askControl,
  controlPath,
  serveControl,
  type AnswerOperation,
} from '../../src/channels/terminal/control.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { skillRules } from '../../src/config/runtime-config.ts';
import { createOperate } from '../../src/operator/operate.ts';
import { createPeople } from '../../src/access/create-people.ts';
import { operations } from '../../src/operator/operations.ts';
import { createStandingRules } from '../../src/features/approvals/standing-rules.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createRegistry } from '../../src/skills/registry.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { quietLog } from '../support/quiet-log.ts';

const access = () => ({
  owners: [],
  general: {},
  channels: new Map(),
  chats: new Map(),
  allowExternal: false,
});

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-operations-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function operateHere(t: TestContext, folder: string, isRunning = true): Promise<AnswerOperation> {
  const store = await openStore('sqlite::memory:');
  t.after(store.close);
  await store.inbox.accept(makeMessage(), { now: 1 });
  const log = quietLog();
  const audit = createAudit({ dataDir: folder, keyed: store.keyed, clock: systemClock, log });
  const host = { store, audit, clock: systemClock, log };
  const people = createPeople(host, { access });
  const nothing = async (): Promise<never> => Promise.reject(new Error('nobody asks this here'));
  const parsed = parseConfig('', { env: {} });
  assert.ok(parsed.ok);
  const { config } = parsed;
  return createOperate({
    ...host,
    ...people,
    chatSettings: createChatSettings({ store, migrations: people.migrations, log }),
    access,
    rules: createStandingRules({ stored: store.keyed('standing-rules'), audit }),
    approvals: {
      records: async () => [],
      enable: nothing,
      discard: nothing,
      nameOf: nothing,
      forget: nothing,
    },
    mcp: { list: async () => [], agree: nothing, definitionHashes: async () => new Map() },
    capabilities: {
      forget: async () => 0,
      operations: {
        list: async () => ({ offered: [], problems: [] }),
        accounts: async () => [],
        revoke: nothing,
      },
    },
    files: { forget: async () => 0 },
    zone: () => 'UTC',
    inForce: async () => ({
      ...{ config, access: access(), rules: skillRules(config), registry: createRegistry([]) },
    }),
    running: isRunning
      ? {
          answer: nothing,
          plugins: () => [],
          readiness: () => ({
            ...{ ready: true, data: { ok: true }, store: { ok: true }, channels: {}, model: null },
          }),
        }
      : undefined,
  });
}

test('Q9 the control socket refuses an unknown operation, wrong input and another version, each with what to do', async (t) => {
  const folder = await makeFolder(t);
  const socket = controlPath(folder);
  const operate = await operateHere(t, folder);
  const control = await serveControl({
    path: socket,
    operate,
    takeTerminal: () => () => undefined,
    log: quietLog(),
  });
  t.after(control.close);
  const ask = (name: string, input?: unknown) => askControl(socket, name, input);
  assert.equal((await ask('inbox list', 'waiting'))?.data instanceof Array, true);
  await assert.rejects(ask('pair everybody'), /no operation `pair everybody`.*restart the bot/s);
  await assert.rejects(ask('toString'), /no operation `toString`/);
  await assert.rejects(ask('inbox list', 'all'), /`inbox list` can't be done with this input.*"dead"/s);
  await assert.rejects(ask('backup', 'here.db'), /absolute path/);
  const wrong = { lines: 0, person: '42', skill: '', since: 'soon', kind: 'all' };
  await assert.rejects(ask('audit tail', '20'), /`audit tail` can't be .*write an object with "lines"/s);
  await assert.rejects(ask('audit tail', { lines: '20' }), /write how many lines, such as 20\n.*at lines/s);
  await assert.rejects(ask('audit tail', wrong), (error: Error) => {
    for (const [key, fix] of Object.entries({
      lines: 'write how many lines, such as 20',
      person: 'write a whole id, such as "telegram:42"',
      skill: 'write the name of a skill',
      since: 'write a time such as "2026-11-24T00:00:00Z"',
      kind: 'write one of approval, ',
    }))
      assert.match(error.message, new RegExp(`✖ ${fix}.*\\n +→ at ${key}`));
    return true;
  });
  await assert.rejects(ask('pair list', 'all'), /`pair list` can't be done with this input/);
  for (const line of [
    { operation: 'pair list', argument: '' },
    { version: '0.0.0', operation: 'pair list' },
    { version: '0.0.0', terminal: { user: 'ann', as: 'private', patient: false } },
  ])
    assert.match(await saidTo(socket, line), /"ok":false.*another version\. Restart the bot/);
});

async function saidTo(at: string, line: unknown): Promise<string> {
  const socket = connect(at);
  socket.end(`${JSON.stringify(line)}\n`);
  return (await socket.setEncoding('utf8').toArray()).join('');
}

test('S8 T8 an approval can be answered only while a bot runs', async (t) => {
  const operate = await operateHere(t, await makeFolder(t), false);
  const answer = { id: 'ABCD2345', answer: 'approve', by: 'telegram:7' };
  await assert.rejects(operate('approval answer', answer), /needs a running bot: run `skillet start` first/);
  assert.deepEqual(await operate('approval list', undefined), []);
  const here = await operateHere(t, await makeFolder(t));
  await assert.rejects(here('approval answer', answer), /there is no approval ABCD2345/);
  await assert.rejects(
    here('approval answer', { ...answer, answer: 'always' }),
    /can't be done with this input/,
  );
});

test('L1 every operation that says so works without input, twice, and changes nothing', async (t) => {
  const folder = await makeFolder(t);
  const operate = await operateHere(t, folder);
  const inputs: Readonly<Record<string, unknown>> = {
    'inbox list': 'waiting',
    'audit tail': { lines: 20 },
    stats: '2026-01-01',
    'memory list': 'telegram:42',
    'access decisions': {
      ...{ sender: 'telegram:42', kind: 'person', channel: 'telegram', chat: '42' },
      ...{ chatType: 'private', external: false, addressed: true },
    },
  };
  const names = Object.entries(operations).flatMap(([name, { readOnly }]) => (readOnly ? [name] : []));
  assert.ok(names.length > 8);
  const read = async () => Promise.all(names.map((name) => operate(name, inputs[name])));
  assert.deepEqual(await read(), await read());
});
