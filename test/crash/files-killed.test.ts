import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'node:test';
import { callSteps } from '../support/call-steps.ts';
import { openCrashStage, type CrashStage, type CrashStageOptions } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt, type KillAt } from '../support/crash/kill-points.ts';
import { readStored } from '../support/crash/read-stored.ts';
import { openStoreFor, storeNames } from '../support/crash/stores.ts';
import { thorough } from '../support/crash/thorough.ts';
import { noPostgres } from '../support/postgres.ts';

const report = '---\nname: report\ndescription: Makes reports.\n---\nMake a report and send it.\n';
const writes = '(INSERT INTO outbox|skillet\\.write_steps)\\b.*\\bfile-';
const entries = '(INSERT INTO entries|skillet\\.write_steps)\\b.*tool_result.*delivered to the conversation';

/** Where the process that sends a file dies. */
const moments: readonly Readonly<{ name: string; kill: KillAt; often?: true }>[] = [
  { name: 'the bytes are kept, the row is not stored', kill: { at: writes, when: 'before' } },
  { name: 'the row is stored, the result is not', kill: { at: entries, when: 'before' }, often: true },
  { name: 'the row is stored, nothing is sent', kill: { at: writes, when: 'committed' } },
  { name: 'the result is stored', kill: { at: entries, when: 'committed' } },
];

for (const store of storeNames) {
  test(`Q6 T12 on the ${store} store a file arrives once, wherever between its bytes and its result kill -9 falls`, async (t) => {
    if (store !== 'embedded' && !thorough) return t.skip('in npm run test:crash');
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    for (const { name, kill } of moments.filter(({ often }) => thorough || often)) {
      const stage = await reportStage({ ...(await freshStore(opened)), channels: ['telegram'] });
      try {
        const ann = stage.telegram.person({ name: 'Ann' });
        const first = stage.start({ preload: killingAt(kill) });
        await first.ready;
        ann.says('/report');
        await hasKilledItself(first, name);
        const second = stage.start();
        assert.equal((await ann.dm.nextFile()).file.bytes.toString(), 'the report', name);
        await ann.dm.nextMessage('All done.');
        // It is removed after the send was noted: a stop may come before that.
        for (let tries = 0; tries < 500 && (await leftIn(stage, opened)) > 0; tries++) await delay(20);
        const exit = await second.stop();
        assert.deepEqual(exit, { code: 0, signal: null }, second.errors().join('\n'));
        assert.equal(ann.dm.everSent().filter(({ file }) => file !== undefined).length, 1, name);
        assert.equal(await leftIn(stage, opened), 0, name);
      } finally {
        await stage.close();
      }
    }
  });
}

/** How many files wait to be sent. */
async function leftIn(
  { folder, storeUrl }: CrashStage,
  { server }: NonNullable<Awaited<ReturnType<typeof openStoreFor>>>,
): Promise<number> {
  if (server === undefined) return (await readdir(path.join(folder, 'workspace', 'outgoing'))).length;
  const rows = await server.run(storeUrl, `SELECT path FROM skillet.files WHERE folder = 'outgoing'`);
  return rows.length;
}

/** Each stage has a workspace of its own, and so a database (Q9). */
async function freshStore({
  server,
}: NonNullable<Awaited<ReturnType<typeof openStoreFor>>>): Promise<CrashStageOptions> {
  return server === undefined ? {} : { storeUrl: await server.database() };
}

/** A stage on which the skill is there that writes a file and sends it. */
async function reportStage(options: CrashStageOptions): Promise<CrashStage> {
  const stage = await openCrashStage({
    ...options,
    script: callSteps([
      { name: 'write_file', input: { path: 'a.txt', content: 'the report' } },
      { name: 'send_file', input: { path: 'a.txt' } },
    ]),
  });
  const skill = path.join(stage.folder, 'workspace', 'skills', 'report');
  await mkdir(skill, { recursive: true });
  await writeFile(path.join(skill, 'SKILL.md'), report);
  return stage;
}

for (const store of storeNames) {
  test(`Q6 T12 on the ${store} store kill -9 in the middle of an upload: the next process sends the file, once`, async (t) => {
    if (store !== 'embedded' && !thorough) return t.skip('in npm run test:crash');
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    for (const channel of thorough ? (['telegram', 'slack'] as const) : (['telegram'] as const)) {
      const stage = await reportStage({ ...(await freshStore(opened)), channels: [channel] });
      const never = Promise.withResolvers<void>();
      try {
        const { telegram, slack } = stage;
        telegram.faults.add({ method: 'sendDocument', hold: never.promise });
        slack.faults.next('upload', { kind: 'hold', until: never.promise });
        const ann = telegram.person({ name: 'Ann' });
        const anna = slack.workspace.addUser('anna');
        const room = slack.workspace.dmWith(anna.id);
        const first = stage.start();
        await first.ready;
        if (channel === 'telegram') {
          ann.says('/report');
          await telegram.until('the upload', () => telegram.calls('sendDocument').length > 0);
        } else {
          void slack.people.dm(anna, '/report');
          await slack.calls.until(({ method }) => method === 'upload');
        }
        await first.kill();
        // A data directory of its own: the bytes are in the workspace that both share (Q9), or in the database (Q14).
        const second = stage.start({ number: 1 });
        const files = (): readonly unknown[] =>
          channel === 'telegram'
            ? ann.dm.everSent().flatMap(({ file }) => (file === undefined ? [] : [file.bytes.toString()]))
            : room.messages.flatMap(({ files = [] }) =>
                files.map(({ id }) => slack.bytesOf(String(id))?.toString()),
              );
        if (channel === 'telegram') await ann.dm.nextMessage('All done.');
        else await slack.posted(({ text }) => text.includes('All done.'));
        assert.deepEqual(files(), ['the report'], channel);
        const exit = await second.stop();
        assert.deepEqual(exit, { code: 0, signal: null }, second.errors().join('\n'));
        // Telegram can't be asked whether it has the file: that it was sent again is counted.
        const { repeats } = await readStored(stage.storeUrl);
        assert.equal(repeats.length, channel === 'telegram' ? 1 : 0);
        assert.equal(await leftIn(stage, opened), 0);
      } finally {
        never.resolve();
        await stage.close();
      }
    }
  });
}

for (const store of storeNames) {
  test(`Q6 H2 on the ${store} store an answer too long for messages comes once and whole, wherever kill -9 falls`, async (t) => {
    if (store !== 'embedded' && !thorough) return t.skip('in npm run test:crash');
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    const whole = Array.from({ length: 1_500 }, (_, line) => `Line ${line}, with some words in it.`).join(
      '\n\n',
    );
    const rows = '(INSERT INTO outbox|skillet\\.write_steps)\\b.*!whole#0';
    for (const when of ['before', 'committed'] as const) {
      const stage = await openCrashStage({
        ...(await freshStore(opened)),
        channels: ['telegram'],
        script: () => whole,
      });
      try {
        const ann = stage.telegram.person({ name: 'Ann' });
        const first = stage.start({ preload: killingAt({ at: rows, when }) });
        await first.ready;
        ann.says('write much');
        await hasKilledItself(first, when);
        const second = stage.start();
        assert.equal((await ann.dm.nextFile('answer.md')).file.bytes.toString(), whole, when);
        for (let tries = 0; tries < 500 && (await leftIn(stage, opened)) > 0; tries++) await delay(20);
        const exit = await second.stop();
        assert.deepEqual(exit, { code: 0, signal: null }, second.errors().join('\n'));
        const sent = ann.dm.everSent().filter(({ deleted }) => !deleted);
        assert.equal(sent.filter(({ file }) => file !== undefined).length, 1, when);
        const texts = sent.filter(({ file }) => file === undefined).map(({ text }) => text);
        assert.equal(texts.length, 10, when);
        assert.ok(whole.startsWith(texts.join('\n\n')), when);
        assert.equal(await leftIn(stage, opened), 0, when);
      } finally {
        await stage.close();
      }
    }
  });
}
