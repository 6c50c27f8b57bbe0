import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { resultsIn, isRun, stepsOf } from '../support/call-steps.ts';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt, type KillAt } from '../support/crash/kill-points.ts';
import { thorough } from '../support/crash/thorough.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';

const skill = '---\nname: note\ndescription: Takes notes.\n---\nTake a note and send it.\n';

/** Written beside the conversation's folder, in it, appended to, read again on whichever machine, and sent. */
const calls = [
  { name: 'write_file', input: { path: 'draft.txt', content: 'a draft' } },
  { name: 'bash', input: { command: 'cp draft.txt /chat/note.txt' } },
  { name: 'bash', input: { command: 'echo once >> /chat/note.txt' } },
  { name: 'bash', input: { command: 'cat draft.txt /chat/note.txt' } },
  { name: 'send_file', input: { path: '/chat/note.txt' } },
];
const appended = 'write_files.*note\\.txt.*';

/** Where the process dies, whether the command is told as cut off, and what its successor reads. */
const moments: readonly Readonly<{ name: string; kill: KillAt; cut: boolean; read: string; often?: true }>[] =
  [
    {
      name: 'the scratch file is written, not stored: it is written again',
      kill: { at: 'write_files.*draft\\.txt', when: 'before' },
      cut: false,
      read: 'a drafta draftonce',
    },
    {
      name: 'the command has ended, its files are not stored: it left nothing',
      kill: { at: appended, when: 'before' },
      cut: true,
      read: 'a draftonce',
      often: true,
    },
    {
      name: 'the files are stored, the result is not: all of it is there',
      kill: { at: appended, when: 'committed' },
      cut: true,
      read: 'a drafta draftonce',
      often: true,
    },
  ];

const server = await startPostgres();
after(() => server?.close());

test('Q14 Q7 wherever kill -9 falls between a command, its files and its result, another machine sees all or nothing of it', async (t) => {
  if (server === undefined) return t.skip(noPostgres);
  for (const { name, kill, cut, read } of moments.filter(({ often }) => thorough || often)) {
    const step = stepsOf(calls, 'done');
    let results: readonly string[] = [];
    const stage = await openCrashStage({
      storeUrl: await server.database(),
      channels: ['telegram'],
      script(request) {
        if (!isRun(request)) return 'All done.';
        results = resultsIn(request);
        return step(request);
      },
    });
    try {
      const folder = path.join(stage.folder, 'workspace', 'skills', 'note');
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, 'SKILL.md'), skill);
      const ann = stage.telegram.person({ name: 'Ann' });
      const first = stage.start({ preload: killingAt(kill) });
      await first.ready;
      ann.says('/note');
      await hasKilledItself(first, name);
      const second = stage.start({ number: 1 });
      await ann.dm.nextMessage('All done.');
      const said = results.map((text) => text.replaceAll(/\\n|"/g, ''));
      assert.equal(said[1]?.startsWith('interrupted'), cut, name);
      assert.equal(said[3], read, name);
      const exit = await second.stop();
      assert.deepEqual(exit, { code: 0, signal: null }, second.errors().join('\n'));
    } finally {
      await stage.close();
    }
  }
});
