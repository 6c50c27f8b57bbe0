import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { startBotProcess } from '../support/bot-process.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { knowPeople } from '../support/known-people.ts';
import { noPostgres } from '../support/postgres.ts';
import { hookTable, post, signed } from '../support/send-event.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

for (const store of storeNames)
  test(`N7 Q1 Q5 on the ${store} store, an event that was answered 202 is not lost by kill -9, nor its repeat answered twice`, async (t) => {
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    const folder = await mkdtemp(path.join(tmpdir(), 'skillet-hooks-'));
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const telegram = await startTelegramServer();
    const messages = await startMessagesServer({
      script: () => {
        asked.resolve();
        return { content: [{ type: 'text', text: 'The build is red.' }], wire: { hold: held.promise } };
      },
    });
    t.after(async () => {
      await Promise.all([telegram.close(), messages.close()]);
      await rm(folder, { recursive: true, force: true });
    });
    const ann = telegram.person({ name: 'Ann', id: 1001 });
    const { storeUrl } = opened.options;
    const toml = [
      `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false`,
      `[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"`,
      '[access]\nusers = ["telegram:1001"]\n[server]\nlisten = "127.0.0.1:0"\n[log]\nformat = "json"',
      '[sandbox]\nmode = "virtual"',
      storeUrl === undefined ? '' : `[store]\nurl = "${storeUrl}"`,
      hookTable({ as: 'telegram:1001', conversation: 'telegram:1001' }),
    ];
    await writeFile(path.join(folder, 'config.toml'), toml.join('\n'), { mode: 0o600 });
    const send = async (bot: ReturnType<typeof startBotProcess>): Promise<number> => {
      await bot.line(({ msg }) => msg === 'Skillet is ready');
      const served = await bot.line(({ msg }) => msg === 'serving health and metrics');
      const body = 'deploy failed';
      const { status } = await post(
        `${String(served['url'])}/hooks/ci`,
        body,
        signed(body, 'msg_1', Date.now()),
      );
      return status;
    };
    await knowPeople(storeUrl ?? `sqlite:${folder}/data/skillet.db`);
    const first = startBotProcess(t, folder);
    ann.says('/whoami');
    await ann.dm.nextMessage(/telegram:1001/);
    assert.equal(await send(first), 202);
    await asked.promise;
    const ended = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await ended;
    held.resolve();
    const second = startBotProcess(t, folder);
    assert.equal(await send(second), 200);
    assert.equal((await ann.dm.nextMessage()).text, 'The build is red.');
    assert.deepEqual(await second.stop(), [0, null]);
    assert.equal(ann.dm.everSent().filter(({ text }) => text === 'The build is red.').length, 1);
  });
