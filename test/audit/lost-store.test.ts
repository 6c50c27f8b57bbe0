import assert from 'node:assert/strict';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { startWholeBot } from '../support/whole-bot.ts';

for (const [how, empty] of [
  ['emptied', (file: string) => writeFile(file, '')],
  ['removed', (file: string) => rm(file)],
] as const)
  test(`Q11 L6 a store that was ${how} beside an audit with lines is refused at the start; without them all begins anew`, async (t) => {
    const bot = await startWholeBot(t, { toml: '[access]\ndm = "pairing"\n', script: ['Hello.'] });
    const ann = bot.telegram.person({ name: 'Ann' });
    ann.says('hi');
    const { text } = await ann.dm.nextMessage(/code/);
    await bot.bot.pairing.approve(/code is (\S+),/.exec(text)?.[1] ?? '', 'cli');
    await bot.bot.close();
    const data = path.join(bot.home, 'data');
    assert.equal((await readdir(path.join(data, 'audit'))).length, 1);
    for (const end of ['-wal', '-shm']) await rm(path.join(data, `skillet.db${end}`), { force: true });
    await empty(path.join(data, 'skillet.db'));
    await assert.rejects(bot.restart(), (error: unknown) => {
      assert.ok(error instanceof OperatorError);
      assert.match(
        error.message,
        /holds the audit of an earlier one.*skillet restore.*move that folder away/,
      );
      return true;
    });
    await assert.rejects(bot.restart(), OperatorError, 'what a refused start made is no store either');
    await rename(path.join(data, 'audit'), path.join(data, 'audit-before'));
    await bot.restart();
    ann.says('hi again');
    await ann.dm.nextMessage(/code/);
  });
