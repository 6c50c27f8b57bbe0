/**
 * `npm run test:stryker [-- WORD…]`: StrykerJS changes the files of `areas.ts` in every way it knows, and runs the narrow
 * tests of each. Prints a score for each file and what no test noticed; exits 1 below 85 % of all. With words, only files
 * whose path holds one of them; with `--since REVISION`, only those that differ from it. `--concurrency N` runs N tests at
 * once instead of as many as there are processors.
 *
 * A text in the source that holds a letter and a space, outside of `${…}`, is words for people or for a model. Changes of
 * such a text are left out, since a test of each wording would only repeat it. Codes and keys have no spaces and are
 * changed, and so is the code inside `${…}`. A change that runs out of time counts as noticed. As a busy machine is slow,
 * too, these are printed apart.
 */
import { Stryker } from '@stryker-mutator/core';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { areas } from './areas.ts';

const needed = 0.85;
const root = path.join(import.meta.dirname, '../..');
const { values, positionals: words } = parseArgs({
  options: { since: { type: 'string' }, concurrency: { type: 'string' } },
  allowPositionals: true,
});
const changed =
  values.since === undefined
    ? undefined
    : execFileSync('git', ['diff', '--name-only', values.since, '--', 'src'], {
        cwd: root,
        encoding: 'utf8',
      });

let noticed = 0;
let all = 0;
process.chdir(root);
// Each change costs a run of its tests.
process.env['SKILLET_FUZZ_RUNS'] = '20';
for (const { files, tests } of areas) {
  const mutate = files
    .map((file) => `src/${file}`)
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .filter((file) => changed === undefined || changed.split('\n').includes(file));
  if (mutate.length === 0) continue;
  const results = await new Stryker({
    testRunner: 'tap',
    plugins: ['@stryker-mutator/tap-runner'],
    mutate,
    tap: {
      testFiles: tests.map((file) => `test/${file}`),
      nodeArgs: ['--test-reporter=tap', '-r', '{{hookFile}}', '{{testFile}}'],
      forceBail: true,
    },
    coverageAnalysis: 'perTest',
    ...(values.concurrency === undefined ? {} : { concurrency: Number(values.concurrency) }),
    // Endless loops are ended by a count of steps; time runs out on a busy machine, too.
    timeoutMS: 30_000,
    reporters: ['progress-append-only'],
    tempDirName: path.join(tmpdir(), 'skillet-stryker'),
    allowConsoleColors: false,
  }).runMutationTest();
  for (const file of mutate) {
    const lines = readFileSync(file, 'utf8').split('\n');
    const judged = results.filter(
      ({ fileName, status, mutatorName, location }) =>
        path.relative(root, fileName) === file &&
        !/Ignored|Error/.test(status) &&
        !(mutatorName === 'StringLiteral' && isForReaders(textAt(lines, location))),
    );
    const slow = judged.filter(({ status }) => status === 'Timeout').length;
    const missed = judged.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
    noticed += judged.length - missed.length;
    all += judged.length;
    process.stdout.write(
      `${percent(judged.length - missed.length, judged.length)} ${file}: ${missed.length} of ${judged.length} not noticed (timed out ${slow})\n`,
    );
    for (const { location, mutatorName, replacement = '' } of missed)
      process.stdout.write(
        `  ${file}:${location.start.line}:${location.start.column} ${mutatorName} → ${replacement.replaceAll(/\s+/g, ' ').slice(0, 100)}\n`,
      );
  }
}
process.stdout.write(`${noticed} of ${all} changes noticed: ${percent(noticed, all)}\n`);
if (noticed < all * needed) process.exitCode = 1;

type Place = Readonly<{ line: number; column: number }>;

/** What the source has at a place; lines and columns count from 1. */
function textAt(lines: readonly string[], { start, end }: Readonly<{ start: Place; end: Place }>): string {
  const within = lines.slice(start.line - 1, end.line).join('\n');
  const after = (lines[end.line - 1] ?? '').length - (end.column - 1);
  return within.slice(start.column - 1, within.length - after);
}

/** Whether a text is words for people or a model, not a code or a key. */
function isForReaders(text: string): boolean {
  const plain = text.replaceAll(/\$\{[^}]*\}/g, '');
  return /\p{L}/u.test(plain) && plain.includes(' ');
}

function percent(part: number, whole: number): string {
  return `${whole === 0 ? 100 : Math.floor((part / whole) * 100)} %`;
}
