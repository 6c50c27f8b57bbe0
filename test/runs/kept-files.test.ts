import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createPlainFolders } from '../../src/folders/plain-folders.ts';
import { createKeptFiles } from '../../src/runs/kept-files.ts';
import { chatFolderName } from '../../src/tools/built-in/run-folders.ts';

const [ann, bob] = ['slack:U1', 'slack:U2'];
const [anns, bobs, room] = ['slack:D1', 'slack:D2', 'slack:C1'];

function open(t: TestContext) {
  const workspace = mkdtempSync(path.join(tmpdir(), 'skillet-kept-'));
  t.after(() => rmSync(workspace, { recursive: true, force: true }));
  const files = createKeptFiles(createPlainFolders(workspace));
  const namesIn = (group: string) => {
    const folder = path.join(workspace, group);
    return existsSync(folder) ? readdirSync(folder).toSorted() : [];
  };
  const receive = (place: string, ref: string, sender: string) =>
    files.received.keep(chatFolderName(place), { ref, name: `${ref}.txt`, sender }, 1_000_000, async (to) =>
      writeFileSync(to, ref, { flag: 'wx' }),
    );
  return { workspace, files, namesIn, receive };
}

test('Q12 M12 of who is forgotten the folders of their direct messages go, with threads and received files; in rooms only their own', async (t) => {
  const { workspace, files, namesIn, receive } = open(t);
  for (const place of [anns, `${anns}/17`, bobs, room])
    mkdirSync(path.join(workspace, 'chats', chatFolderName(place)), { recursive: true });
  // By somebody else, as a forward of theirs is: the place is what counts.
  await receive(anns, 'forwarded', bob);
  await receive(bobs, 'own', bob);
  await receive(room, 'hers', ann);
  await receive(room, 'his', bob);
  for (const id of ['a1', 'b1']) await files.outgoing.keep(id, 'bytes', 'x.txt', 1_000);
  assert.equal(await files.forget({ sender: ann, places: [anns], files: ['a1', 'gone'] }), 5);
  assert.deepEqual(namesIn('chats'), [chatFolderName(bobs), chatFolderName(room)].toSorted());
  assert.deepEqual(namesIn('received'), [chatFolderName(bobs), chatFolderName(room)].toSorted());
  assert.deepEqual(namesIn(`chats/${chatFolderName(room)}`), ['his.txt']);
  assert.equal(namesIn(`received/${chatFolderName(room)}`).length, 2, 'his file and its record');
  assert.deepEqual([await files.outgoing.find('a1'), namesIn('outgoing')], [undefined, ['b1']]);
});

test('Q12 T10 retention removes what was not used, and the scratch of a run only once nothing waits for it', async (t) => {
  const { workspace, files, namesIn } = open(t);
  const now = Date.now();
  const hours = (ago: number): Date => new Date(now - ago * 3_600_000);
  for (const [name, ago] of [
    ['runs/over', 2],
    ['runs/fresh', 0.5],
    ['chats/old', 26],
    ['chats/new', 22],
  ] as const) {
    mkdirSync(path.join(workspace, name), { recursive: true });
    utimesSync(path.join(workspace, name), hours(ago), hours(ago));
  }
  await files.tidy(now, 24 * 3_600_000, []);
  assert.deepEqual([namesIn('runs'), namesIn('chats')], [['fresh'], ['new']]);
});
