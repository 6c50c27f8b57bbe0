import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { createCopies } from '../../src/folders/create-copies.ts';
import { openStore } from '../../src/store/open-store.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { resultsIn, isRun, stepsOf, type ScriptedCall } from '../support/call-steps.ts';
import { openCrashStage, type CrashStage } from '../support/crash/crash-stage.ts';
import { hasKilledItself, killingAt, type KillAt } from '../support/crash/kill-points.ts';
import { thorough } from '../support/crash/thorough.ts';
import { put } from '../support/folders-contract.ts';
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

/** `calls` are what the run makes; `results` what it is told of them. */
async function openStage(
  storeUrl: string,
  calls: readonly ScriptedCall[],
): Promise<Readonly<{ stage: CrashStage; results: () => readonly string[] }>> {
  const step = stepsOf(calls, 'done');
  let results: readonly string[] = [];
  const stage = await openCrashStage({
    storeUrl,
    channels: ['telegram'],
    script(request) {
      if (!isRun(request)) return 'All done.';
      results = resultsIn(request).map((text) => text.replaceAll(/\\n|"/g, ''));
      return step(request);
    },
  });
  const folder = path.join(stage.folder, 'workspace', 'skills', 'note');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'SKILL.md'), skill);
  return { stage, results: () => results };
}

test('Q14 Q7 wherever kill -9 falls between a command, its files and its result, another machine sees all or nothing of it', async (t) => {
  if (server === undefined) return t.skip(noPostgres);
  for (const { name, kill, cut, read } of moments.filter(({ often }) => thorough || often)) {
    const { stage, results } = await openStage(await server.database(), calls);
    try {
      const ann = stage.telegram.person({ name: 'Ann' });
      const first = stage.start({ preload: killingAt(kill) });
      await first.ready;
      ann.says('/note');
      await hasKilledItself(first, name);
      const second = stage.start({ number: 1 });
      await ann.dm.nextMessage('All done.');
      assert.equal(results()[1]?.startsWith('interrupted'), cut, name);
      assert.equal(results()[3], read, name);
      const exit = await second.stop();
      assert.deepEqual(exit, { code: 0, signal: null }, second.errors().join('\n'));
    } finally {
      await stage.close();
    }
  }
});

/** Bytes of each of three files: the database's second answer begins in the second file and ends in the third. */
const size = 7_000_000;
/** Writes ones if nothing is there; prints which digits there are in the order of the files, how many, and the names. */
const look = `[ -e /chat/c ] || for f in a b c; do head -c ${size} /dev/zero | tr '\\0' 1 > /chat/$f; done
echo files: $(cat /chat/* | tr -s 12) $(cat /chat/* | wc -c) $(ls -A /chat)`;

test('Q14 Q7 after kill -9 in the middle of a check-out the same machine has the folder whole, of one version', async (t) => {
  if (server === undefined) return t.skip(noPostgres);
  if (bubblewrapHere.skip !== false) return t.skip(bubblewrapHere.skip);
  const url = await server.database();
  const call = { name: 'bash', input: { command: look } };
  const { stage, results } = await openStage(url, [call, call]);
  t.after(() => stage.close());
  const ann = stage.telegram.person({ name: 'Ann' });
  const first = stage.start();
  ann.says('/note');
  await ann.dm.nextMessage('All done.');
  assert.match(results()[0] ?? '', /files: 1 21000000 a b c/);
  await first.stop();
  const chat = await writeElsewhere(url, stage.folder);

  const killed = stage.start({
    preload: killingAt({ at: 'bytes FROM skillet.chunks', when: 'before', nth: 3 }),
  });
  ann.says('/note');
  await hasKilledItself(killed, 'a check-out');
  const digitOf = async (file: string): Promise<string | undefined> =>
    (await readFile(path.join(stage.folder, 'data', 'copies', chat, file), 'latin1'))[0];
  assert.deepEqual([await digitOf('a'), await digitOf('c')], ['2', '1'], 'it was not in the middle');
  const second = stage.start();
  await ann.dm.nextMessage('All done.');
  assert.match(results()[1] ?? '', /files: 2 21000000 a b c/);
  assert.deepEqual(await second.stop(), { code: 0, signal: null }, second.errors().join('\n'));
});

/** Another machine puts twos into the conversation's folder, which it returns. */
async function writeElsewhere(url: string, folder: string): Promise<string> {
  const { files, signals, close } = await openStore(url);
  const stored = files() ?? assert.fail('no files');
  const root = path.join(folder, 'elsewhere');
  const onFault = (error: unknown): void => assert.fail(String(error));
  const folders = createCopies({ files: stored, signals, root, quota: 1e9, onFault });
  const [chat = ''] = await folders.list('chats');
  await folders.use([chat], 'changes', async () => {
    for (const file of ['a', 'b', 'c']) await put(folders, chat, file, '2'.repeat(size));
  });
  await close();
  return chat;
}
