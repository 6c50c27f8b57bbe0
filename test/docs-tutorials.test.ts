import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { startTelegramServer } from './servers/telegram/start-telegram-server.ts';
import { bubblewrapHere, sandboxHere } from './support/bubblewrap-here.ts';
import { childEnv } from './support/child-env.ts';
import { cliPath } from './support/cli-path.ts';
import { blocksOf, documents } from './support/documents.ts';
import { freePort } from './support/free-port.ts';
import { isJobPage } from './support/job-pages.ts';
import { noPostgres, startPostgres } from './support/postgres.ts';

const pages = documents().filter(({ file }) => isJobPage(file));
const postgres = await startPostgres();
after(() => postgres?.close());

/** What a page has that is another thing here, such as a port or a token. */
type Replaced = readonly (readonly [string | RegExp, string])[];

type Scene = Readonly<{
  skip?: string | false;
  replaced?: Replaced;
  /** What people do after the command that has these words in it. */
  after?: readonly [words: string, act: () => Promise<unknown>];
}>;

const scenes: Readonly<Record<string, (t: TestContext) => Promise<Scene>>> = {
  'jira.md': async () => ({
    skip: bubblewrapHere.skip,
    replaced: [[/8973/g, String(await freePort())]],
  }),
  'another-model.md': async () => ({ replaced: [[/8975/g, String(await freePort())]] }),
  'behind-a-proxy.md': async () => ({ replaced: [[/8974/g, String(await freePort())]] }),
  'two-bots.md': async () => ({
    replaced: [
      [/9464/g, String(await freePort())],
      [/9465/g, String(await freePort())],
    ],
  }),
  'to-postgresql.md': async () => ({
    skip: postgres === undefined ? noPostgres : false,
    replaced: [[/postgres:\/\/\S+/g, (await postgres?.database()) ?? '']],
  }),
  'nightly-report.md': async (t) => (await onTelegram(t)).scene,
  'who-approved.md': async (t) => {
    const { scene, ann, telegram } = await onTelegram(t);
    const approve = async (): Promise<void> => {
      ann.says('/incident restart "shop-1"');
      const { id } = await ann.dm.nextMessage(/wants to use/);
      ann.presses(id, 'Approve');
      await ann.dm.nextMessage(/restarted shop-1/);
      await telegram.until('the question is answered', () =>
        ann.dm.sent().find((sent) => sent.id === id && !/wants to use/.test(sent.text)),
      );
    };
    return { ...scene, after: ['skillet status', approve] };
  },
};

/** A bot on a test server, and the person whom the pages call telegram:42. */
async function onTelegram(t: TestContext) {
  const telegram = await startTelegramServer({ privacy: false });
  t.after(() => telegram.close());
  const ann = telegram.person({ name: 'Ann', id: 42 });
  const token = 'token = "$TELEGRAM_BOT_TOKEN"';
  const replaced: Replaced = [
    ['123456789:AA…', telegram.token],
    [token, `${token}\napi_root = "${telegram.url}"`],
  ];
  return { telegram, ann, scene: { replaced } };
}

for (const { file, text } of pages)
  test(`L17 ${file} works from an empty folder to its end`, { timeout: 240_000 }, async (t) => {
    const { skip = false, replaced = [], after: act } = (await scenes[path.basename(file)]?.(t)) ?? {};
    if (skip !== false) return t.skip(skip);
    const folder = await mkdtemp(path.join(tmpdir(), 'skillet-tutorial-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const env = await environment(folder);
    const here = (written: string): string =>
      replaced.reduce((found, [from, to]) => found.replaceAll(from, to), written);
    let said = '';
    for (const block of blocksOf(text)) {
      const shown = here(block.text);
      if (block.file !== undefined) await put(folder, block.file, shown);
      else if (block.language === 'sh') said = await walk(shown, { folder, env, act });
      else if (block.language === 'text')
        for (const line of shown.split('\n'))
          assert.ok(said.includes(line.trim()), `${file}: no “${line}” in\n${said}`);
    }
    await check(file, folder);
  });

test('L17 every tutorial by job has commands, and the page of CI a workflow that is read', () => {
  assert.ok(pages.length >= 9, String(pages.length));
  for (const { file, text } of pages)
    assert.ok(
      blocksOf(text).some(({ language }) => language === 'sh'),
      file,
    );
  assert.deepEqual(
    Object.keys(scenes).filter((name) => !pages.some(({ file }) => file.endsWith(`/${name}`))),
    [],
  );
});

/** Runs lines one after another, and returns all that they printed. `# exit code 1` at its end is what a line ends with. */
async function walk(
  lines: string,
  { folder, env, act }: Readonly<{ folder: string; env: NodeJS.ProcessEnv; act: Scene['after'] }>,
): Promise<string> {
  let said = '';
  for (const line of lines.split('\n').filter((one) => one.trim() !== '')) {
    const wanted = Number(/# exit code (\d+)$/.exec(line)?.[1] ?? 0);
    const { code, output } = await shell(line, folder, env);
    assert.equal(code, wanted, `${line}\n${output}`);
    said += output;
    if (act !== undefined && line.includes(act[0])) await act[1]();
  }
  return said;
}

function shell(
  line: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<Readonly<{ code: number | null; output: string }>> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (output += part));
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** A home in the folder, so that `~` is nobody's, with `skillet` and `node` on the path. */
async function environment(folder: string): Promise<NodeJS.ProcessEnv> {
  const bin = await mkdtemp(path.join(tmpdir(), 'skillet-bin-'));
  after(() => rm(bin, { recursive: true, force: true }));
  await writeFile(path.join(bin, 'skillet'), `#!/bin/sh\nexec "${process.execPath}" "${cliPath}" "$@"\n`);
  await chmod(path.join(bin, 'skillet'), 0o755);
  const { PATH = '', ...rest } = childEnv(folder);
  return { ...rest, PATH: [bin, path.dirname(process.execPath), PATH].join(path.delimiter) };
}

async function put(folder: string, name: string, text: string): Promise<void> {
  const place = path.join(folder, name);
  await mkdir(path.dirname(place), { recursive: true });
  const isMain = /(?:^|\/)config\.toml$/.test(name);
  await writeFile(place, `${text}\n${isMain ? `\n${sandboxHere}` : ''}`, { mode: 0o600 });
}

async function check(file: string, folder: string): Promise<void> {
  if (!file.endsWith('/skill-in-ci.md')) return;
  const text = await readFile(path.join(folder, '.github/workflows/skills.yml'), 'utf8');
  const { jobs } = parse(text) as { jobs: { test: { steps: readonly { run?: string }[] } } };
  const env = await environment(folder);
  const lines = jobs.test.steps.flatMap(({ run = '' }) =>
    run === '' || run.includes('install') ? [] : [run],
  );
  assert.equal(lines.length, 3);
  await walk(lines.join('\n'), { folder, env, act: undefined });
}
