import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createServer } from '../../src/lib/net/node-http.ts';

/** A file of a commit: its text, or another mode with the target of a link or the commit of a submodule. */
export type RepositoryFile = string | Uint8Array | Readonly<{ mode: '100755' | '120000'; text: string }>;

/** A bare repository made by git, that goes away after the test. */
export type Repository = Readonly<{
  folder: string;
  /** `file://` */
  url: string;
  /** Puts these files, and no others, into a new commit on `branch`; gives its id. */
  commit(files: Readonly<Record<string, RepositoryFile>>, branch?: string): string;
  /** Runs git in it, with `input`, and gives what it prints. */
  git(args: readonly string[], input?: string | Uint8Array): string;
  /** Writes a tree object as it is, whatever git thinks of it; gives its id. */
  tree(entries: readonly Readonly<{ mode: string; name: string | Uint8Array; id: string }>[]): string;
  blob(content: string | Uint8Array): string;
  /** Makes a commit of a tree and sets `branch` to it. */
  commitTree(tree: string, branch?: string): string;
}>;

export function makeRepository(t: TestContext): Repository {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-git-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const who = { NAME: 'A', EMAIL: 'a@example.com' };
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    ...Object.fromEntries(
      Object.entries(who).flatMap(([key, value]) => [
        [`GIT_AUTHOR_${key}`, value],
        [`GIT_COMMITTER_${key}`, value],
      ]),
    ),
  };
  const git = (args: readonly string[], input: string | Uint8Array = ''): string =>
    execFileSync('git', [`--git-dir=${folder}`, ...args], { env, input, stdio: ['pipe', 'pipe', 'pipe'] })
      .toString()
      .trim();
  git(['init', '--bare', '--quiet', '--initial-branch=main', folder]);
  const blob = (content: string | Uint8Array): string => git(['hash-object', '-w', '--stdin'], content);
  const commitTree = (tree: string, branch = 'main'): string => {
    const id = git(['commit-tree', tree, '-m', 'next']);
    git(['update-ref', `refs/heads/${branch}`, id]);
    return id;
  };
  return {
    folder,
    url: pathToFileURL(folder).href,
    git,
    blob,
    commitTree,
    commit(files, branch = 'main') {
      const parts = Object.entries(files).flatMap(([name, file]) => {
        const isPlain = typeof file === 'string' || file instanceof Uint8Array;
        const bytes = Buffer.from(isPlain ? file : file.text);
        const head = `M ${isPlain ? '100644' : file.mode} inline ${JSON.stringify(name)}\ndata ${bytes.length}\n`;
        return [Buffer.from(head), bytes, Buffer.from('\n')];
      });
      const start = `commit refs/heads/${branch}\ncommitter A <a@example.com> ${Date.now() % 1e9} +0000\ndata 4\nnext\ndeleteall\n`;
      git(['fast-import', '--quiet', '--force'], Buffer.concat([Buffer.from(start), ...parts]));
      return git(['rev-parse', branch]);
    },
    tree: (entries) =>
      git(
        ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'],
        Buffer.concat(
          entries.flatMap(({ mode, name, id }) => [
            Buffer.from(`${mode} `),
            Buffer.from(name),
            Buffer.from([0]),
            Buffer.from(id, 'hex'),
          ]),
        ),
      ),
  };
}

/** Serves repositories over http on loopback, by git's own `http-backend`; gives the address of one. */
export async function serveRepository(
  t: TestContext,
  { folder }: Repository,
  { login }: Readonly<{ /** `user:password` that it wants. */ login?: string }> = {},
): Promise<string> {
  const backend = path.join(execFileSync('git', ['--exec-path']).toString().trim(), 'git-http-backend');
  const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const server = createServer((request, response) => {
    if (wanted !== undefined && request.headers.authorization !== wanted) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="skills"' }).end();
      return;
    }
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const child = spawn(backend, {
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        GIT_PROJECT_ROOT: path.dirname(folder),
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: pathname,
        QUERY_STRING: searchParams.toString(),
        REQUEST_METHOD: request.method ?? 'GET',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        ...('git-protocol' in request.headers
          ? { GIT_PROTOCOL: String(request.headers['git-protocol']) }
          : {}),
      },
    });
    request.pipe(child.stdin);
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.once('close', () => {
      const all = Buffer.concat(output);
      const end = all.indexOf('\r\n\r\n');
      for (const line of all.subarray(0, end).toString().split('\r\n')) {
        const [name = '', value = ''] = line.split(': ');
        if (name === 'Status') response.statusCode = Number(value.slice(0, 3));
        else response.setHeader(name, value);
      }
      response.end(all.subarray(end + 4));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/${path.basename(folder)}`;
}
