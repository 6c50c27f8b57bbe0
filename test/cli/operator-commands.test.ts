import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { openCliHome } from '../support/run-cli.ts';
import { openRunningBot } from '../support/running-bot.ts';

function bytesIn(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name))));
}

test('L1 Q12 forget asks for a yes, for a whole id, and says so when nothing was stored', async (t) => {
  const { run } = await openCliHome(t);
  const unasked = await run(['forget', 'telegram:42']);
  assert.deepEqual([unasked.code, unasked.stderr], [2, 'There is nobody to ask here: add --yes.\n']);
  const bare = await run(['forget', '42', '--yes']);
  assert.equal(bare.code, 2);
  assert.match(bare.stderr, /Write the whole id, such as telegram:42/);
  const nobody = await run(['forget', 'telegram:42', '--yes']);
  assert.deepEqual([nobody.code, nobody.stdout], [1, 'Nothing was stored of telegram:42.\n']);
});

test('Q12 Q9 L1 forget stops what runs for a person, removes every word of theirs, makes them a stranger and writes a line', async (t) => {
  const home = await openCliHome(t);
  const asked = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const messages = await startMessagesServer({
    script: (request) => {
      if (!JSON.stringify(request).includes('second')) return 'canary-answer';
      asked.resolve();
      return { content: [{ type: 'text', text: 'canary-late' }], wire: { hold: end.promise } };
    },
  });
  t.after(() => {
    end.resolve();
    return messages.close();
  });
  const bot = await openRunningBot(
    t,
    home,
    `[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n`,
  );
  const ann = bot.telegram.person({ name: 'Ann' });
  const id = `telegram:${ann.id}`;
  ann.says('hello');
  const code = /code is (\w{8})/.exec((await ann.dm.nextMessage()).text)?.[1] ?? '';
  assert.equal((await home.run(['pair', 'approve', code])).code, 0);
  assert.match((await ann.dm.nextMessage()).text, /approved/);
  assert.match((await home.run(['audit', 'tail'])).stdout, / UTC {2}pairing +telegram:\d+ {2}approved$/m);
  const tail = (await home.run(['audit', 'tail', '--json'])).stdout.trimEnd().split('\n');
  assert.ok(tail.some((one) => (JSON.parse(one) as { verdict?: string }).verdict === 'approved'));
  assert.match(
    (await home.run(['pair', 'list'])).stdout,
    /^paired {3}telegram:\d+ {2}"Ann" {2}since \d{4}-\d\d-\d\d \d\d:\d\d UTC$/m,
  );
  ann.says('canary-question');
  assert.match((await ann.dm.nextMessage()).text, /canary-answer/);
  ann.says('second canary-question');
  await asked.promise;
  const data = path.join(home.folder, 'data');
  assert.ok(bytesIn(data).includes('canary'));

  const { code: exit, stdout, stderr } = await home.runAlone(['forget', id, '--yes', '--json']);
  assert.equal(exit, 0, stderr);
  const gone = JSON.parse(stdout) as { known: boolean; inConfig: boolean; removed: Record<string, number> };
  assert.deepEqual([gone.known, gone.inConfig], [true, false]);
  assert.ok((gone.removed['entries'] ?? 0) > 2, stdout);
  assert.ok(!bytesIn(data).includes('canary'), 'a word of theirs is still there');
  assert.ok(!bytesIn(data).includes(id), 'their id is still there');
  assert.match((await home.run(['pair', 'list'])).stdout, /There are no paired people and no requests/);

  const [name = ''] = readdirSync(path.join(data, 'audit'));
  const file = path.join(data, 'audit', name);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const line = JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
  assert.deepEqual(
    [line['event'], line['subject']],
    ['forgotten', createHash('sha256').update(id).digest('hex')],
  );
  assert.deepEqual(line['counts'], gone.removed);

  ann.says('hello again');
  assert.match((await ann.dm.nextMessage()).text, /don't know you yet/);
  end.resolve();
  await bot.end();
  assert.ok(!bytesIn(data).includes('canary'), 'what ran for them went on');
  assert.equal(existsSync(path.join(data, 'control.sock')), false);
});

test('L1 L6 U10 U12 stats, policy and audit are read from a running bot, and a record that was changed is found', async (t) => {
  const home = await openCliHome(t);
  const messages = await startMessagesServer({ script: () => 'Fine.' });
  t.after(() => messages.close());
  const bot = await openRunningBot(
    t,
    home,
    `[access]\ndm = "open"\n[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\nprice_in = 3\nprice_out = 15\n`,
  );
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('hello');
  await ann.dm.nextMessage('Fine.');
  const { stdout } = await home.run(['stats']);
  assert.match(stdout, /^day .*requests .*tokens .*dollars\n\d{4}-\d\d-\d\d +1 +[\d,]+ +0\.\d\d\n/);
  assert.match(stdout, new RegExp(`\\nperson .*\\ntelegram:${ann.id} +1 `));
  const { usage, thumbs } = JSON.parse((await home.run(['stats', '--days', '1', '--json'])).stdout) as {
    usage: { usd: number }[];
    thumbs: unknown[];
  };
  assert.ok((usage[0]?.usd ?? 0) > 0);
  assert.deepEqual(thumbs, []);
  assert.match((await home.run(['policy', 'list'])).stdout, /^No standing approvals\./);
  assert.match((await home.run(['inbox', 'list'])).stdout, /^No dead letters\. --waiting /);
  assert.match((await home.run(['outbox', 'list'])).stdout, /^No failed deliveries\./);
  const refused = await home.run(['policy', 'revoke', 'nothing']);
  assert.deepEqual(
    [refused.code, /no rule nothing: see `skillet policy list`/.test(refused.stderr)],
    [1, true],
  );
  assert.equal((await home.run(['pair', 'deny', 'AAAAAAAA'])).code, 1);
  const folder = path.join(home.folder, 'data', 'audit');
  assert.equal((await home.run(['audit', 'verify'])).code, 0);
  writeFileSync(path.join(folder, '2026-01-01.jsonl'), 'nonsense\n', { mode: 0o600 });
  const found = await home.run(['audit', 'verify']);
  assert.equal(found.code, 1);
  assert.match(found.stdout, /2026-01-01\.jsonl: line 1 is no line of the audit/);
  assert.equal((await home.run(['audit', 'tail', '-n', '0'])).code, 2);
  await bot.end();
});
