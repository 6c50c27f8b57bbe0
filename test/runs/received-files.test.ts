import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createReceivedFiles, type ReceivedFiles } from '../../src/runs/received-files.ts';
import { createPlainFolders } from '../../src/folders/plain-folders.ts';

const day = 86_400_000;
const quota = 1024 * 1024;
const enough = async (): Promise<number> => 10_000_000_000;

function open(freeBytes = enough) {
  const workspace = mkdtempSync(path.join(tmpdir(), 'received-'));
  const received = createReceivedFiles(createPlainFolders(workspace), freeBytes);
  const inChat = (name = '', folder = 'room'): string => path.join(workspace, 'chats', folder, name);
  const kept = (folder = 'room'): string => path.join(workspace, 'received', folder);
  const keep = (ref: string, bytes = ref, more: { name?: string; folder?: string; sender?: string } = {}) =>
    received.keep(
      more.folder ?? 'room',
      { ref, name: more.name ?? `${ref}.txt`, sender: more.sender ?? 'telegram:1' },
      quota,
      async (to) => writeFileSync(to, bytes, { flag: 'wx' }),
    );
  return { received, inChat, kept, keep };
}

/** As if all that is kept of a conversation had come long ago. */
function age(...folders: readonly string[]): void {
  for (const folder of folders)
    for (const name of readdirSync(folder)) utimesSync(path.join(folder, name), 1, 1);
}

function hashOf(kept: Awaited<ReturnType<ReceivedFiles['keep']>>): string {
  assert.ok(typeof kept === 'object');
  return kept.hash;
}

test('M12 Q12 retention removes what commands see of a file, too, in a conversation that goes on', async () => {
  const { received, inChat, kept, keep } = open();
  await keep('old');
  age(kept(), inChat());
  await keep('new');
  await received.tidy(Date.now() - day);
  assert.deepEqual(readdirSync(inChat()), ['new.txt']);
  assert.equal(readdirSync(kept()).length, 2, 'the new one and its record');
});

test('M12 Q12 retention leaves a copy that a command has changed', async () => {
  const { received, inChat, kept, keep } = open();
  await keep('list');
  age(kept(), inChat());
  writeFileSync(inChat('list.txt'), 'the work of a command');
  await received.tidy(Date.now() - day);
  assert.deepEqual([readdirSync(inChat()), readdirSync(kept())], [['list.txt'], []]);
});

test('M12 Q12 retention keeps a file that a request still reads', async () => {
  const { received, inChat, kept, keep } = open();
  const hash = hashOf(await keep('shown'));
  age(kept(), inChat());
  assert.equal(String(await received.read('room', hash, 100)), 'shown');
  await received.tidy(Date.now() - day);
  assert.equal(String(await received.read('room', hash, 100)), 'shown');
});

test('M12 what is kept of one conversation is not read in another', async () => {
  const { received, keep } = open();
  const hash = hashOf(await keep('secret'));
  assert.equal(await received.read('other', hash, 100), undefined);
  await keep('else', 'else', { folder: 'other' });
  assert.equal(await received.read('other', hash, 100), undefined);
});

test('M12 a conversation holds no more than its limit, copies counted, and nothing is left of what was too much', async () => {
  const { inChat, kept, keep } = open();
  assert.equal(await keep('half', 'x'.repeat(quota * 0.6)), 'full');
  assert.deepEqual(readdirSync(kept()), []);
  await keep('small', 'x'.repeat(quota * 0.3));
  writeFileSync(inChat('made-by-a-command'), 'x'.repeat(quota * 0.4));
  assert.equal(await keep('more'), 'full');
});

test('M12 where the disk is nearly full nothing more is fetched', async () => {
  const { keep, kept } = open(async () => 400_000_000);
  assert.equal(await keep('one'), 'disk full');
  assert.deepEqual(readdirSync(kept()), []);
});

test('M12 a file that broke off leaves nothing, and comes whole the next time', async () => {
  const { received, kept, keep } = open();
  const broken = received.keep('room', { ref: 'a', name: 'a.txt' }, quota, async (to) => {
    writeFileSync(to, 'ha');
    throw new Error('cut');
  });
  await assert.rejects(broken, /cut/);
  assert.deepEqual(readdirSync(kept()), []);
  const hash = hashOf(await keep('a', 'half and half'));
  assert.equal(String(await received.read('room', hash, 100)), 'half and half');
});

test('M12 T13 a link that a command put in the place of a copy leads nowhere', async () => {
  const { inChat, keep } = open();
  const outside = path.join(mkdtempSync(path.join(tmpdir(), 'outside-')), 'file');
  writeFileSync(outside, 'untouched');
  mkdirSync(inChat(), { recursive: true });
  symlinkSync(outside, inChat('a.txt'));
  const kept = await keep('a', 'new');
  assert.ok(typeof kept === 'object');
  assert.equal(kept.name, 'a-2.txt');
  assert.equal(readFileSync(outside, 'utf8'), 'untouched');
});

test('M12 Q12 what two people sent stays until both are forgotten', async () => {
  const { received, inChat, keep } = open();
  const hash = hashOf(await keep('a', 'same', { sender: 'telegram:1' }));
  await keep('b', 'same', { sender: 'telegram:2' });
  assert.equal(await received.forget({ sender: 'telegram:1', folders: () => false }), 1);
  assert.deepEqual(readdirSync(inChat()), ['b.txt']);
  assert.ok(await received.read('room', hash, 100));
  await received.forget({ sender: 'telegram:2', folders: () => false });
  assert.equal(await received.read('room', hash, 100), undefined);
});

test('M12 the same bytes under another name are found under that name, and sent twice they are one file', async () => {
  const { inChat, kept, keep } = open();
  await keep('1', 'bytes', { name: 'video message' });
  const film = await keep('2', 'bytes', { name: 'a.mp4' });
  const again = await keep('3', 'bytes', { name: 'a.mp4' });
  assert.deepEqual(
    [film, again].map((one) => typeof one === 'object' && one.name),
    ['a.mp4', 'a.mp4'],
  );
  await keep('4', 'others', { name: 'a.mp4' });
  await keep('5', 'others', { name: 'a.mp4' });
  assert.deepEqual(readdirSync(inChat()).sort(), ['a-2.mp4', 'a.mp4', 'video-message']);
  assert.equal(readdirSync(kept()).length, 7, 'two contents and a record of each');
});

test('M12 a file whose bytes are gone is fetched again', async () => {
  const { received, inChat, kept, keep } = open();
  const hash = hashOf(await keep('lost', 'bytes'));
  rmSync(path.join(kept(), hash));
  rmSync(inChat('lost.txt'));
  assert.equal(hashOf(await keep('lost', 'bytes')), hash);
  assert.equal(String(await received.read('room', hash, 100)), 'bytes');
  assert.deepEqual(readdirSync(inChat()), ['lost.txt']);
});
