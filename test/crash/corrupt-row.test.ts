import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { startBotProcess } from '../support/bot-process.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { quietLog } from '../support/quiet-log.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

const garbage = '{"text":"SECRET of somebody"';

test('Q11 a bot whose store has a damaged row in every table reports each by its key and goes on with all others', async (t) => {
  const { write, run, folder } = await openCliHome(t);
  const telegram = await startTelegramServer({ flood: false });
  t.after(() => telegram.close());
  const held = Promise.withResolvers<void>();
  const never = Promise.withResolvers<void>();
  let holds = true;
  const messages = await startMessagesServer({
    async script({ messages: said, tools = [] }) {
      const last = JSON.stringify(said.at(-1));
      const names = tools.map((tool) => ('name' in tool ? tool.name : ''));
      if (last.includes('number 1') && holds) {
        held.resolve();
        await never.promise;
      }
      if (last.includes('roll for me') && names.includes('use_skill')) {
        const input = { skill: 'dice', message: 'roll' };
        return { content: [{ type: 'tool_use', name: 'use_skill', input }] };
      }
      // Only what a result says is passed on.
      if (last.includes('tool_result')) return passedOn(last, /the dice say 4/, 'you rolled 4');
      if (names.includes('skills_run_script')) return 'the dice say 4';
      return `answer to ${last.match(/number \d+/g)?.at(-1)}`;
    },
  });
  t.after(async () => {
    never.resolve();
    await messages.close();
  });
  const [ann, bob, carl] = ['Ann', 'Bob', 'Carl'].map((name) => telegram.person({ name }));
  assert.ok(ann !== undefined && bob !== undefined && carl !== undefined);
  await write(
    'config.toml',
    `[telegram]
token = "${telegram.token}"
api_root = "${telegram.url}"
paced = false
[access]
users = ["telegram:${ann.id}", "telegram:${bob.id}"]
[server]
listen = "127.0.0.1:0"
[log]
format = "json"
[models.default]
model = "claude-sonnet-5-5"
base_url = "${messages.url}"
api_key = "test-key-0123456789"
`,
  );
  const first = startBotProcess(t, folder);
  await first.line(({ msg }) => msg === 'Skillet is ready');
  ann.says('roll for me');
  await ann.dm.nextMessage('you rolled 4');
  telegram.faults.add({ method: 'sendMessage', retryAfter: 3_600 });
  ann.says('number 0');
  await first.line(({ msg }) => msg === 'a part was not delivered yet');
  const damagedMessage = bob.says('number 1');
  bob.says('number 2');
  await held.promise;
  await telegram.until('the queue is empty', () => telegram.queue.waiting().length === 0);
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  holds = false;

  const damaged = damage(path.join(folder, 'data', 'skillet.db'), `telegram:${ann.id}`);
  const refused = messages.refused.length;
  const bot = startBotProcess(t, folder);
  await bot.line(({ msg }) => msg === 'Skillet is ready');
  await bob.dm.nextMessage('answer to number 2');
  ann.says('number 3');
  await ann.dm.nextMessage('answer to number 3');
  carl.says('am I still known?');
  await carl.dm.nextMessage('I don');
  assert.equal(messages.refused.length, refused, 'what is left of a transcript is a valid request');
  assert.equal((await bot.get('/readyz')).status, 200);

  const inboxKey = `telegram:${bob.id}:${damagedMessage}`;
  for (const fields of [
    { message: inboxKey },
    { outbox: damaged.outbox },
    ...damaged.entries.map((seq) => ({ transcript: `telegram:${ann.id}`, seq })),
    { namespace: 'people', key: 'paired' },
    { namespace: 'pairing' },
  ]) {
    const isReported = (): boolean =>
      bot.lines.some(
        (line) =>
          /damaged/.test(line.msg) && Object.entries(fields).every(([name, value]) => line[name] === value),
      );
    // What a process says may arrive later than what it sends.
    await t.waitFor(() => assert.ok(isReported(), `${JSON.stringify(fields)} was not reported`), {
      timeout: 60_000,
    });
  }
  assert.doesNotMatch(JSON.stringify(bot.lines), /SECRET/, 'a damaged row was quoted in the log');
  const listed = await run(['inbox', 'list', '--json']);
  assert.match(listed.stdout, new RegExp(`"${inboxKey}"`));
  assert.match(listed.stdout, /The stored message is not JSON/);
  assert.match((await bot.get('/metrics')).text, /^skillet_inbox_dead 1$/m);
  assert.deepEqual(await bot.stop(), [0, null]);
});

/** What a model says of a tool's result: that it failed, unless it says what is awaited. */
function passedOn(last: string, awaited: RegExp, then: string): string {
  return awaited.test(last) ? then : `it failed: ${last.replaceAll(/["\\]/g, ' ')}`;
}

/** Damages a row of every table, as a failing disk or a careless hand would. */
function damage(file: string, annsQueue: string): Readonly<{ outbox: string; entries: readonly number[] }> {
  const db = new DatabaseSync(file);
  db.prepare(`UPDATE inbox SET parts = ? WHERE status = 'waiting' AND parts LIKE '%number 1%'`).run(garbage);
  const outbox = db.prepare(`SELECT key FROM outbox WHERE finished_at IS NULL AND queue = ?`).get(annsQueue);
  db.prepare('UPDATE outbox SET part = ?, due_at = 0 WHERE key = ?').run(garbage, String(outbox?.['key']));
  // The call of a tool and a message of the person; the call's result and the answer stay behind.
  const entries = db
    .prepare(
      `SELECT MIN(seq) AS seq FROM entries WHERE transcript = ? AND kind IN ('assistant', 'user') GROUP BY kind`,
    )
    .all(annsQueue)
    .map(({ seq }) => Number(seq));
  for (const seq of entries) db.prepare('UPDATE entries SET entry = ? WHERE seq = ?').run(garbage, seq);
  const keyed = db.prepare('INSERT OR REPLACE INTO keyed (namespace, key, value) VALUES (?, ?, ?)');
  keyed.run('people', 'paired', garbage);
  keyed.run('pairing', 'requests', garbage);
  keyed.run('pairing', 'claim', garbage);
  db.prepare(
    `INSERT INTO pending_requests (id, kind, conversation, requester, state, expires_at, request) VALUES ('a', 'approval', ?, ?, 'open', 1, ?)`,
  ).run(annsQueue, annsQueue, garbage);
  db.prepare(`INSERT INTO shown (key, receipt, shown_at) VALUES ('s', ?, 1)`).run(garbage);
  db.prepare(`INSERT INTO group_context (key, conversation, message, heard_at) VALUES ('o', ?, ?, 1)`).run(
    annsQueue,
    garbage,
  );
  db.prepare(
    `INSERT INTO usage (day, sender, conversation, skill, model, requests, input, output, cache_read, cache_write) VALUES (?, ?, ?, ?, ?, -1, -1, -1, -1, -1)`,
  ).run(garbage, annsQueue, annsQueue, garbage, garbage);
  db.close();
  assert.equal(entries.length, 2);
  return { outbox: String(outbox?.['key']), entries };
}

test('Q11 a damaged question is left out and reported by its id, can still be ended, and harms no other', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-damage-'));
  const log = quietLog();
  const store = await openStore(`sqlite:${folder}/s.db`, { log });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const conversation = { channel: 'telegram', chat: '1' };
  for (const id of ['a', 'b', 'c']) {
    await store.pendingRequests.add({
      id,
      kind: 'approval',
      conversation,
      requester: 'telegram:1',
      transcript: 't',
      toolUseId: id,
      payload: {},
      askedAt: 1,
      expiresAt: id === 'b' ? 10 : 20,
    });
  }
  const db = new DatabaseSync(path.join(folder, 's.db'));
  db.prepare(`UPDATE pending_requests SET request = ? WHERE id IN ('a', 'b')`).run(garbage);
  db.close();
  assert.deepEqual(
    (await store.pendingRequests.open(conversation)).map(({ id }) => id),
    ['c'],
  );
  const answer = { by: 'telegram:1', value: 'yes', at: 2 };
  assert.equal(await store.pendingRequests.answer('a', answer), 'unknown', 'nothing is done on it');
  assert.equal(await store.pendingRequests.answer('c', answer), 'answered');
  assert.deepEqual(await store.pendingRequests.expire(10), ['b']);
  assert.deepEqual((await store.stop({ items: [], pendingRequests: [{ conversation }] })).cancelled, ['a']);
  assert.deepEqual([...new Set(log.lines.map(({ fields }) => fields['request']))], ['a', 'b']);
  assert.doesNotMatch(JSON.stringify(log.lines), /SECRET/);
});
