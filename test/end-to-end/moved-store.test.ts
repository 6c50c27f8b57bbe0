import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { chatFolder } from '../../src/tools/built-in/run-folders.ts';
import { callSteps } from '../support/call-steps.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { makeRoutine } from '../support/routines-contract.ts';
import { openCliHome } from '../support/run-cli.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const server = await startPostgres();
after(() => server?.close());

const toml = '[access]\ndm = "open"\n[bot]\nshutdown_seconds = 1\n[policy]\nmoderate = "confirm"\n';
const skills = { report: '---\nname: report\ndescription: Makes reports.\n---\nMake one.\n' };
const question = /wants to use.*write_file/s;

test(
  'Q16 T8 N1 L6 a bot on a moved store answers what waited, fires its routines and asks nothing twice, there and back',
  { skip: server === undefined ? noPostgres : false },
  async (t) => {
    const set = await startWholeBot(t, {
      ...{ toml, skills },
      script: callSteps([{ name: 'write_file', input: { path: '/chat/a.txt', content: 'from before' } }]),
    });
    const cli = await openCliHome(t);
    const run = async (...args: readonly string[]): Promise<string> => {
      const ran = await cli.run([...args, '--config', path.join(set.home, 'config.toml')]);
      assert.equal(ran.code, 0, ran.stdout + ran.stderr);
      return ran.stdout;
    };
    const ann = set.telegram.person({ name: 'Ann' });
    const conversation = { channel: 'telegram', chat: String(ann.dm.id) };
    /** Puts a message and a reminder into the store of a bot that rests. */
    const plant = async (url: string, name: string): Promise<void> => {
      const store = await openStore(url);
      const sender = { id: `telegram:${ann.dm.id}`, name: 'Ann', kind: 'person' } as const;
      await store.inbox.accept(makeMessage({ id: name, conversation, sender, text: '/report' }), {
        now: Date.now(),
      });
      const definition = { conversation, creator: sender, task: `Call ${name}.`, reminder: true } as const;
      await store.routines.add(makeRoutine(name, { dueAt: Date.now() - 1_000, definition }), 99);
      await store.close();
    };
    ann.says('/report');
    ann.presses((await ann.dm.nextMessage(question)).id, 'Always');
    await ann.dm.nextMessage('All done.');
    await set.bot.close();
    await plant(`sqlite:${set.home}/data/skillet.db`, 'Bob');
    const url = (await server?.database()) ?? '';
    assert.match(await run('move-store', '--to', url), /Moved, and compared/);

    await set.reconfigure(`${toml}[store]\nurl = "${url}"\n`);
    const there = await set.restart();
    await ann.dm.nextMessage(/Call Bob\./);
    await ann.dm.nextMessage('All done.');
    await there.bot.idle();
    await there.bot.close();
    assert.match(await run('audit', 'verify'), /unchanged/);

    await plant(url, 'Cid');
    const back = path.join(set.home, 'back.db');
    assert.match(await run('move-store', '--to', back), /Files of conversations, now in \S+: [1-9]/);
    const folder = chatFolder(path.join(set.home, 'workspace'), conversation);
    assert.equal(readFileSync(path.join(folder, 'a.txt'), 'utf8'), 'from before');
    await set.reconfigure(`${toml}[store]\nurl = "sqlite:${back}"\n`);
    const home = await set.restart();
    await ann.dm.nextMessage(/Call Cid\./);
    await ann.dm.nextMessage('All done.');
    await home.bot.idle();
    await home.bot.close();
    assert.match(await run('audit', 'verify'), /unchanged/);
    assert.equal(ann.dm.sent().filter(({ text }) => /wants to use|^Approved/.test(text)).length, 1);
  },
);
