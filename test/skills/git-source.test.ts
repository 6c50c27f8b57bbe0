import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { randomBytes } from 'node:crypto';
import { makeRepository, serveRepository } from '../support/git-repository.ts';
import { offerSkills, openForTest } from '../support/offer-skills.ts';
import { makeRoot, skillText } from './make-root.ts';

const text = (name: string, body = 'Do it.'): string =>
  skillText(`name: ${name}\ndescription: What ${name} does.`, body);

async function bodyOf(t: TestContext, url: string, ref?: string): Promise<string> {
  const { offers } = await offerSkills(t, url, ref === undefined ? {} : { ref });
  return offers[0]?.files[0]?.bytes.toString().split('\n').at(-2) ?? '';
}

test('D6 a source over http gives the same skills, bytes and commit as over file://', async (t) => {
  const repository = makeRepository(t);
  const bytes = randomBytes(70_000);
  const commit = repository.commit({
    'skills/a/SKILL.md': text('a'),
    'skills/a/assets/é ü.bin': bytes,
    'skills/a/scripts/run': { mode: '100755', text: '#!/bin/sh\n' },
    'README.md': '# x',
  });
  for (const url of [repository.url, await serveRepository(t, repository)]) {
    const snapshot = await openForTest(t, url);
    assert.equal(snapshot.commit, commit);
    snapshot.close();
    const [offer] = (await offerSkills(t, url)).offers;
    assert.deepEqual(
      offer?.files.map((file) => [file.path, file.executable]),
      [
        ['SKILL.md', false],
        ['assets/é ü.bin', false],
        ['scripts/run', true],
      ],
    );
    assert.deepEqual(offer.files[1]?.bytes, bytes);
  }
});

test('D6 ref is a branch, a tag of either kind, or a commit', async (t) => {
  const repository = makeRepository(t);
  const first = repository.commit({ 'a/SKILL.md': text('a', 'first') });
  repository.git(['tag', 'v1']);
  repository.git(['-c', 'user.name=A', '-c', 'user.email=a@b', 'tag', '-a', '-m', 'x', 'v1-annotated']);
  repository.commit({ 'a/SKILL.md': text('a', 'second') });
  repository.commit({ 'a/SKILL.md': text('a', 'other') }, 'side/branch');
  assert.equal(await bodyOf(t, repository.url), 'second');
  for (const ref of ['v1', 'v1-annotated', first])
    assert.equal(await bodyOf(t, repository.url, ref), 'first', ref);
  assert.equal(await bodyOf(t, repository.url, 'side/branch'), 'other');
});

test('D6 a branch that moves, and files that change, after a source was opened change nothing of it', async (t) => {
  const repository = makeRepository(t);
  const first = repository.commit({ 'a/SKILL.md': text('a', 'first') });
  const snapshot = await openForTest(t, repository.url);
  repository.commit({ 'a/SKILL.md': text('a', 'evil') });
  repository.git(['reflog', 'expire', '--all', '--expire=now']);
  repository.git(['gc', '--quiet', '--prune=now']);
  const [entry] = snapshot.entries;
  assert.ok(entry);
  const [bytes] = await snapshot.read([entry]);
  assert.match(bytes?.toString() ?? '', /first/);
  assert.equal(snapshot.commit, first);
  snapshot.close();
});

test('D6 a source that itself is a skill is one, with all its folders', async (t) => {
  const repository = makeRepository(t);
  repository.commit({ 'SKILL.md': text('whole'), 'scripts/x.sh': 'x', 'inner/SKILL.md': text('inner') });
  const { offers } = await offerSkills(t, repository.url);
  assert.deepEqual(
    offers.map(({ name, path: at, files }) => [name, at, files.length]),
    [['whole', '', 3]],
  );
});

test('D6 S1 a repository that never answers is given up in time, and leaves no process and no files', async (t) => {
  for (const answer of [
    '',
    'HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\r\n001e#',
  ]) {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      if (answer !== '') socket.write(answer);
    });
    const url = await listen(t, server);
    const root = makeRoot(t);
    const home = makeRoot(t);
    const opened = openForTest(t, url, {
      limits: { timeMs: 400 },
      env: { PATH: process.env['PATH'], HOME: home },
    });
    await assert.rejects(opened, /did not give its files within 0.4 s/);
    assert.deepEqual(readdirSync(root), []);
    assert.deepEqual(processesWith(home), []);
  }
});

test('D6 stopping ends git and all that it started', async (t) => {
  const connected = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    connected.resolve();
  });
  const url = await listen(t, server);
  const stopping = new AbortController();
  const home = makeRoot(t);
  const opened = openForTest(t, url, {
    signal: stopping.signal,
    env: { PATH: process.env['PATH'], HOME: home },
  });
  await connected.promise;
  stopping.abort(new Error('enough'));
  await assert.rejects(opened, /enough/);
  assert.deepEqual(processesWith(home), []);
});

test('D6 S1 what is larger than its limit is cut off while it arrives', async (t) => {
  const repository = makeRepository(t);
  repository.commit({ 'a/SKILL.md': text('a'), 'a/noise.bin': randomBytes(600_000) });
  for (const url of [repository.url, await serveRepository(t, repository)])
    await assert.rejects(offerSkills(t, url, { limits: { packBytes: 200_000 } }), /is larger than 195\.3 KB/);
});

test('D6 what is no repository, and one that wants a login, are told in plain words', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end('HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r\n');
  });
  await assert.rejects(openForTest(t, await listen(t, server)), /needs a login, or is not there: use ssh/);
  await assert.rejects(
    openForTest(t, `file://${makeRoot(t)}`),
    /can't be fetched: fatal: .*does not appear to be a git repository/,
  );
  const moved = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end('HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/x\r\nContent-Length: 0\r\n\r\n');
  });
  await assert.rejects(
    openForTest(t, await listen(t, moved)),
    /error: 302\. It has moved: use its new address/,
  );
});

test('D6 S2 a login is taken from ~/.netrc, is asked of nobody, and stands in no message', async (t) => {
  const repository = makeRepository(t);
  repository.commit({ 'a/SKILL.md': text('a') });
  const url = await serveRepository(t, repository, { login: 'me:hunter22hunter' });
  const home = makeRoot(t, { '.netrc': 'machine 127.0.0.1 login me password hunter22hunter\n' });
  const env = { PATH: process.env['PATH'], HOME: home };
  assert.equal((await offerSkills(t, url, { env })).offers.length, 1);
  await assert.rejects(openForTest(t, `${url}-absent`, { env }), (error: Error) => {
    assert.match(error.message, /can't be fetched/);
    assert.doesNotMatch(error.message, /hunter/);
    return true;
  });
});

test("D6 ssh is the machine's own, told to ask nothing and to forward nothing", async (t) => {
  const repository = makeRepository(t);
  repository.commit({ 'a/SKILL.md': text('a') });
  // Stands for the other side: notes how it was called, and runs what a server would.
  const programs = makeRoot(t);
  const called = path.join(programs, 'called');
  const ssh = `#!/bin/sh\nprintf '%s\\n' "$@" > '${called}'\nfor last; do :; done\nexec sh -c "$last"\n`;
  writeFileSync(path.join(programs, 'ssh'), ssh, { mode: 0o755 });
  const env = { PATH: `${programs}:${process.env['PATH']}`, HOME: programs };
  const { offers } = await offerSkills(t, `ssh://git@example.com:2222${repository.folder}`, { env });
  assert.equal(offers.length, 1);
  const words = readFileSync(called, 'utf8').split('\n');
  for (const word of ['BatchMode=yes', 'ForwardAgent=no', 'ClearAllForwardings=yes', 'PermitLocalCommand=no'])
    assert.ok(words.includes(word), word);
  assert.ok(words.includes('git@example.com'));
});

test('D6 S1 a source whose git folder points at other files of this machine gives none of them', async (t) => {
  const secret = makeRepository(t);
  secret.commit({ 'a/SKILL.md': text('secret') });
  const repository = makeRepository(t);
  repository.commit({ 'b/SKILL.md': text('b') });
  // Borrowed objects are git's own feature of a local repository; what is fetched is still only the named commit.
  writeFileSync(path.join(repository.folder, 'objects/info/alternates'), `${secret.folder}/objects\n`);
  symlinkSync('/etc/passwd', path.join(repository.folder, 'description2'));
  const { offers } = await offerSkills(t, repository.url);
  assert.deepEqual(
    offers.map(({ name }) => name),
    ['b'],
  );
});

async function listen(t: TestContext, server: Server): Promise<string> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}/x.git`;
}

/** Processes whose home is this folder. */
function processesWith(home: string): readonly string[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOME=${home}`) && !/\) Z /.test(status);
      } catch (error) {
        if (error instanceof Error && 'code' in error) return false;
        throw error;
      }
    });
}
