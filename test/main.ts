/**
 * `npm test`: every test file that is not slow; `npm run test:slow`: the others; `npm run test:all`: both. Those of a
 * folder share processes, some files each: to start one and load the bot's code takes longer than most files take. Files
 * that start processes all the time have one each. With arguments, only files whose path holds one of them:
 * `npm test -- test/agent`. One file alone is `node --test FILE`.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { folderInMemory } from './support/folder-in-memory.ts';
import { keepSources } from './support/keep-sources.ts';

/** Processes at once: a good part of the tests waits. */
const atOnce = 7;
/** For what hangs; whatever else takes long does so where the machine has much else to do. */
const testTimeoutMs = 300_000;
/** Also for what is left when its tests are done. */
const processTimeoutMs = 1_200_000;
const filesOfAProcess = 12;
const source = path.join(import.meta.dirname, '../src');
/** What takes longest comes first, so that nothing long is left over at the end. */
const first = [
  'crash',
  'machines',
  'end-to-end',
  'store',
  'cli',
  'scale',
  'rolling',
  'property',
  'channels',
  'sandbox',
];
/** They start bots all the time, or try thousands of texts, or wait for limits: more than half of the suite's time. */
const slow =
  /^(?:crash|machines|property|rolling|scale)\/|^store\/postgres-|^sandbox\/(?:docker|off)|^cli\/(?:archive|chat-with-running|nothing-answers)|^channels\/markdown-split|^folders\/copies-histories|^(?:linear-time|package)\./;
const alone = /^(?:crash|machines|rolling|scale)\/|^store\/postgres|^[^/]+$/;

const isAll = process.argv.includes('--all');
const isSlow = process.argv.includes('--slow');
const wanted = process.argv.slice(2).filter((part) => part !== '--all' && part !== '--slow');
const isWanted = (file: string): boolean =>
  wanted.length === 0
    ? isAll || slow.test(file) === isSlow
    : wanted.some((part) => `test/${file}`.includes(part));
const known = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.test.ts'),
);
const files = known.filter(isWanted).sort();
if (files.length === 0) throw new Error(`No test file's path holds ${wanted.join(' or ')}.`);
const folders = Object.groupBy(files, (file) => path.dirname(file).split(path.sep)[0] ?? '');
const order = [...new Set([...first, ...Object.keys(folders)])];

const entries = path.join(import.meta.dirname, '../node_modules/.cache/test-entries', String(process.pid));
mkdirSync(entries, { recursive: true });
const temporary = folderInMemory();
process.on('exit', () => {
  for (const folder of [entries, temporary])
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});
// By default they end it without that.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
if (temporary !== undefined) process.env['TMPDIR'] = temporary;
const kept = path.join(entries, 'sources');
keepSources(kept);
const loadKept = pathToFileURL(path.join(import.meta.dirname, 'support/load-kept-sources.ts'));
loadKept.searchParams.set('kept', kept);
process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} --import ${loadKept.href}`;
compileOnce();
if (wanted.length === 0 && files.length < known.length) {
  const rest = known.length - files.length;
  process.once('exit', () =>
    console.log(
      isSlow
        ? `${rest} files were left out; \`npm test\` runs them.`
        : `${rest} slow files were left out; \`npm run test:slow\` runs them.`,
    ),
  );
}
run({
  files: order.flatMap((folder) => piecesOf(folders[folder] ?? []).map(entryFor)),
  concurrency: atOnce,
  timeout: processTimeoutMs,
  // Comes after the other one, and is for each test there.
  execArgv: [`--test-timeout=${testTimeoutMs}`],
})
  .on('test:fail', () => (process.exitCode = 1))
  .compose(spec)
  .pipe(process.stdout);

/** What is new is compiled by one process: else all that start together would, and bots that are killed each time anew. */
function compileOnce(): void {
  if (process.env['NODE_COMPILE_CACHE'] === undefined) return;
  const files = globSync('{cli/*,bot/open-*,channels/*/create-{slack,telegram},store/postgres/open-*}.ts', {
    cwd: source,
  });
  const all = [
    ...files.map((file) => pathToFileURL(path.join(source, file)).href),
    // Loaded when a bot first needs them.
    ...['@anthropic-ai/sdk/index.js', '@slack/bolt/dist/App.js', 'jose', 'prom-client'],
  ].map((name) => `import(${JSON.stringify(name)})`);
  const options = { cwd: source, stdio: 'inherit' } as const;
  spawnSync(process.execPath, ['-e', `void Promise.all([${all.join()}])`], options);
}

/** Files of one folder, as they share processes. */
function piecesOf(folder: readonly string[]): readonly (readonly string[])[] {
  const shared = folder.filter((file) => !alone.test(file));
  const count = Math.ceil(shared.length / filesOfAProcess);
  return [
    ...folder.filter((file) => alone.test(file)).map((file) => [file]),
    // Every third file and so on, not thirds: names that begin alike cost alike.
    ...Array.from({ length: count }, (_, piece) => shared.filter((_, index) => index % count === piece)),
  ];
}

/** A file that imports these, after what makes their properties the same in each run. */
function entryFor(piece: readonly string[]): string {
  const [only = ''] = piece;
  const tests = piece.map((file) => path.join(import.meta.dirname, file));
  const isRandom = tests.some((file) => readFileSync(file, 'utf8').includes("from 'fast-check'"));
  if (tests.length === 1 && !isRandom) return tests[0] ?? '';
  const entry = path.join(entries, `${only.replaceAll(path.sep, '-')}.mjs`);
  const first = isRandom ? [path.join(import.meta.dirname, 'support/same-properties.ts')] : [];
  const urls = [...first, ...tests].map((file) => pathToFileURL(file).href);
  writeFileSync(entry, urls.map((url) => `import '${url}';\n`).join(''));
  return entry;
}
