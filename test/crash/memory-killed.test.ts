import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { migrateSqlite } from '../../src/store/sqlite/migrate.ts';
import { sqliteSchema } from '../../src/store/sqlite/schema.ts';
import { openConnection } from '../../src/store/sqlite/open-connection.ts';
import { summaryText } from '../support/crash/crash-model.ts';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt, untilHeard } from '../support/crash/kill-points.ts';
import { answered } from '../support/crash/load.ts';
import { telegramDm } from '../support/crash/places.ts';
import { seededRandom } from '../support/crash/seeded-random.ts';
import { thorough } from '../support/crash/thorough.ts';
import { copyPatched } from '../support/rolling/copy-version.ts';
import { makeMessage } from '../support/make-message.ts';

/** Makes the next version, which has one step of the schema more. */
const nextStep = {
  file: 'src/store/sqlite/schema.ts',
  find: '\n];\n',
  put: "\n  `ALTER TABLE inbox ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'`,\n];\n",
};

const mishaps = { random: seededRandom(1), twice: 0, edited: 0 };

test('Q7 Q10 killed in a step of a migration, the store of an older version is brought up and its messages are answered', async (t) => {
  const stage = await openCrashStage({ channels: ['telegram'] });
  t.after(() => stage.close());
  const ann = stage.telegram.person();
  const chat = String(ann.id);
  const file = stage.storeUrl.replace('sqlite:', '');
  await mkdir(path.dirname(file), { recursive: true });
  const old = openConnection(file);
  migrateSqlite(old, sqliteSchema, file);
  const conversation = { channel: 'telegram', chat };
  const sender = { id: `telegram:${chat}`, name: 'Ann', kind: 'person' } as const;
  const message = makeMessage({ id: `telegram:${chat}:1`, conversation, sender, text: 'say n1' });
  old
    .prepare(
      `INSERT INTO inbox (seq, key, queue, parts, status, due_at, accepted_at) VALUES (1, ?, ?, ?, 'waiting', 0, 1)`,
    )
    .run(message.id, `telegram:${chat}`, JSON.stringify([{ message, glue: '' }]));
  old.prepare('INSERT INTO inbox_keys (key, item) VALUES (?, 1)').run(message.id);
  old.close();
  ann.says('say n2');
  const cli = copyPatched(t, [nextStep]);
  for (const when of ['before', 'after', 'committed'] as const) {
    if (when === 'before' && !thorough) continue;
    const at = `PRAGMA user_version = ${sqliteSchema.length + 1};`;
    await hasKilledItself(stage.start({ preload: killingAt({ at, when }), cli }), `${at} ${when}`);
  }
  const last = stage.start({ cli });
  await ann.dm.nextMessage('answer n2');
  assert.deepEqual(await last.stop(), { code: 0, signal: null });
  assert.deepEqual(
    ann.dm.everSent().map(({ text }) => text),
    ['answer n1', 'answer n2'],
  );
});

test('Q7 M9 killed before and after a summary is stored, the conversation goes on with one, and nothing is lost', async (t) => {
  const stage = await openCrashStage({ channels: ['telegram'], modelToml: 'context_window = 6000' });
  t.after(() => stage.close());
  const ann = telegramDm(stage, 'Ann', mishaps);
  const longWords = 'and this is what it is all about '.repeat(60);
  let said = 0;
  const say = async (): Promise<void> => {
    said += 1;
    await ann.say(`${longWords} say n${said}`);
    await untilHeard(ann, (text) => answered(text).includes(`n${said}`));
  };
  for (const when of ['before', 'committed'] as const) {
    const bot = stage.start({
      preload: killingAt({ at: `INSERT INTO entries\\b.*${ann.chat}.*summary`, when }),
    });
    while (!bot.ended() && said < 40) await Promise.race([say(), bot.exited]);
    await hasKilledItself(bot, `${when} a summary`);
  }
  const last = stage.start();
  await untilHeard(ann, (text) => answered(text).includes(`n${said}`));
  await say();
  assert.deepEqual(await last.stop(), { code: 0, signal: null });
  assert.deepEqual(
    ann.heard().flatMap(answered),
    Array.from({ length: said }, (_, index) => `n${index + 1}`),
  );
  const prompt = JSON.stringify(stage.messages.requests.at(-1)?.body.messages);
  assert.ok(prompt.includes(summaryText));
  assert.doesNotMatch(prompt, /\bn1\b/);
});
