import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { startMessagesServer } from '../support/messages-server/messages-server.ts';
import { cliPath, openCliHome } from '../support/run-cli.ts';
import { startTelegramServer } from '../support/telegram-server/start-telegram-server.ts';

const kills = Number(process.env['SKILLET_KILLS'] ?? 3);
const people = 4;
const perKill = 3;

test(`Q1 Q5 Q7 a bot killed at any instant answers every message, in order, none twice but where a send was cut off (${kills} kills)`, async (t) => {
  const { write, folder } = await openCliHome(t);
  const telegram = await startTelegramServer({ flood: false, patienceMs: 30_000 });
  t.after(() => telegram.close());
  let asked = (): void => undefined;
  const messages = await startMessagesServer({
    script: (body) => {
      asked();
      const said = JSON.stringify(body.messages.at(-1))
        .match(/number (\d+)/g)
        ?.at(-1);
      return { content: [{ type: 'text', text: `answer to ${said}` }], wire: { delayMs: 20 } };
    },
  });
  t.after(() => messages.close());
  await write(
    'config.toml',
    `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n[access]\ndm = "open"\n[log]\nlevel = "error"\n[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n`,
  );
  const start = (): ChildProcess =>
    spawn(process.execPath, [cliPath, 'start'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const everybody = Array.from({ length: people }, (_, n) => telegram.person({ name: `P${n}` }));
  let said = 0;
  for (let kill = 0; kill < kills; kill++) {
    const bot = start();
    // Killed when one of the model's requests arrives: before, while and after others are stored, answered, sent.
    const fatal = Promise.withResolvers<void>();
    let left = 2 + ((kill * 5) % (people * perKill));
    asked = () => {
      if (--left <= 0) fatal.resolve();
    };
    for (let n = 0; n < perKill; n++, said++) for (const person of everybody) person.says(`number ${said}`);
    await fatal.promise;
    bot.kill('SIGKILL');
    await once(bot, 'exit');
  }
  asked = () => undefined;
  const last = start();
  for (const person of everybody) {
    await telegram.until('every answer', () => new Set(textsOf(person.dm.sent())).size === said || undefined);
  }
  last.kill('SIGTERM');
  assert.deepEqual(await once(last, 'exit'), [0, null]);
  for (const person of everybody) {
    const texts = textsOf(person.dm.sent());
    const once = texts.filter((text, index) => text !== texts[index - 1]);
    assert.deepEqual(
      once,
      Array.from({ length: said }, (_, n) => `answer to number ${n}`),
    );
  }
});

function textsOf(sent: readonly Readonly<{ text: string }>[]): readonly string[] {
  return sent.map(({ text }) => text);
}
