import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { SandboxRequest } from '../../../src/sandbox/sandbox.ts';
import { createToolSandbox } from '../../../src/features/plugins/create-tool-sandbox.ts';
import { createWorkspace } from '../../../src/features/plugins/plugin-calls.ts';

async function open(t: TestContext, quota = 1024 ** 2) {
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-files-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const [scratch, chat, skill] = ['scratch', 'chat', 'skill'].map((name) => path.join(home, name));
  assert.ok(scratch !== undefined && chat !== undefined && skill !== undefined);
  await mkdir(skill);
  await writeFile(path.join(skill, 'SKILL.md'), 'Read me.');
  const workspace = createWorkspace(
    [
      { kind: 'scratch', seen: ['/scratch'], host: scratch },
      { kind: 'chat', seen: ['/chat'], host: chat },
      { kind: 'skill', seen: ['/skill'], skill: { directory: skill } },
    ],
    quota,
  );
  return { home, scratch, chat, workspace };
}

test('X4 a workspace reads, writes and lists text and bytes by the paths that models know', async (t) => {
  const { workspace } = await open(t);
  await workspace.write('notes/a.txt', 'äö');
  await workspace.write('/chat/b.bin', new Uint8Array([0, 255]));
  assert.equal(await workspace.readText('/scratch/notes/a.txt'), 'äö');
  assert.deepEqual([...(await workspace.read('/chat/b.bin'))], [0, 255]);
  assert.equal(await workspace.readText('/skill/SKILL.md'), 'Read me.');
  assert.deepEqual(await workspace.list(), [
    { path: '/scratch/notes', kind: 'folder' },
    { path: '/scratch/notes/a.txt', kind: 'file', size: 4 },
    { path: '/chat/b.bin', kind: 'file', size: 2 },
    { path: '/skill/SKILL.md', kind: 'file', size: 8 },
  ]);
  assert.deepEqual(await workspace.list('/scratch/notes'), [
    { path: '/scratch/notes/a.txt', kind: 'file', size: 4 },
  ]);
  assert.deepEqual(await workspace.list('/chat/none'), []);
});

test('X4 what is listed has the name that it was asked for by, also where commands know the folder by another', async (t) => {
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-files-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const workspace = createWorkspace(
    [
      { kind: 'scratch', seen: [`${home}/s`, '/scratch'], host: `${home}/s` },
      { kind: 'chat', seen: [`${home}/c`, '/chat'], host: `${home}/c` },
    ],
    1024 ** 2,
  );
  await workspace.write('/chat/a.txt', 'a');
  const pathsIn = async (at?: string) => (await workspace.list(at)).map((entry) => entry.path);
  assert.deepEqual(await pathsIn('/chat'), ['/chat/a.txt']);
  assert.deepEqual(await pathsIn(`${home}/c/`), [`${home}/c/a.txt`]);
  assert.deepEqual(await pathsIn(), [`${home}/c/a.txt`]);
});

test('X4 T13 what lies elsewhere, behind a link or in the skill can not be read or written, and says so for a model', async (t) => {
  const { home, scratch, workspace } = await open(t);
  await writeFile(path.join(home, 'secret.txt'), 'secret');
  await mkdir(scratch);
  await symlink(path.join(home, 'secret.txt'), path.join(scratch, 'link'));
  await symlink(home, path.join(scratch, 'out'));
  for (const file of ['link', 'out/secret.txt', '/etc/passwd', path.join(home, 'secret.txt')]) {
    await assert.rejects(
      workspace.readText(file),
      /there is no file .*files are in \/scratch, \/chat, \/skill/,
    );
    await assert.rejects(workspace.read(file), /there is no file/);
  }
  await assert.rejects(workspace.write('out/x.txt', 'x'), /there is no file/);
  await assert.rejects(workspace.write('../x.txt', 'x'), /must not hold "\.\."/);
  await assert.rejects(
    workspace.write('/skill/SKILL.md', 'x'),
    /\/skill is read-only: write to \/scratch, \/chat/,
  );
  await assert.rejects(workspace.list('/home'), /there is no file/);
  await workspace.write('no.txt', new Uint8Array([0, 1]));
  await assert.rejects(workspace.readText('no.txt'), /is no text/);
});

test('X4 a workspace is no way round the size that a folder may have', async (t) => {
  const { workspace } = await open(t, 100_000);
  await workspace.write('/chat/a', 'x'.repeat(60_000));
  await assert.rejects(workspace.write('/chat/b', 'x'.repeat(60_000)), /\/chat is full/);
  await workspace.write('/chat/a', 'x'.repeat(70_000));
  await assert.rejects(
    workspace.write('/chat/c', new Uint8Array(20_000_001)),
    /at most 20000000 can be written/,
  );
});

test('X4 T9 commands of a tool have no network, only the environment it gives, its folders and a time limit', async () => {
  const asked: SandboxRequest[] = [];
  const made: string[] = [];
  const { signal } = new AbortController();
  const sandbox = createToolSandbox(
    {
      mode: 'bubblewrap',
      seen: (folder) => `/${folder}`,
      async run(request) {
        asked.push(request);
        return { status: 'exited', exitCode: 0, stdout: made.join(), stderr: '', truncated: false };
      },
    },
    { scratch: '/host/s', chat: '/host/c', skillDirectory: '/host/k' },
    signal,
    (how, work) => {
      made.push(how);
      return work();
    },
  );
  assert.deepEqual(sandbox.folders, { scratch: '/scratch', chat: '/chat' });
  const outcome = await sandbox.run('echo $A', { env: { A: 'a' }, timeoutSeconds: 5 });
  assert.equal('stdout' in outcome && outcome.stdout, 'changes', 'the folders are there first');
  await sandbox.run(['ls', '-l']);
  const of = {
    scratch: '/host/s',
    chat: '/host/c',
    skillDirectory: '/host/k',
    network: [],
    outputCap: 200_000,
    signal,
  };
  assert.deepEqual(asked, [
    { ...of, argv: ['sh', '-c', 'echo $A'], env: { A: 'a' }, timeoutMs: 5_000 },
    { ...of, argv: ['ls', '-l'], env: {}, timeoutMs: 60_000 },
  ]);
  await assert.rejects(sandbox.run('x', { timeoutSeconds: 601 }), /write 1 to 600/);
  await assert.rejects(sandbox.run('x', { timeoutSeconds: NaN }), /write 1 to 600/);
});
