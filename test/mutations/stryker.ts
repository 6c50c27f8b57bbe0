/**
 * `npm run test:stryker [-- WORD…]`: StrykerJS changes the files of `areas.ts` in every way it knows, and runs the narrow
 * tests of each. Prints a score for each file and what no test noticed; exits 1 below 85 % of all. With words, only files
 * whose path holds one of them; with `--since REVISION`, only those that differ from it.
 */
import { Stryker } from '@stryker-mutator/core';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { areas } from './areas.ts';

const needed = 0.85;
const root = path.join(import.meta.dirname, '../..');
const { values, positionals: words } = parseArgs({
  options: { since: { type: 'string' } },
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
    // Endless loops are ended by a count of steps; time runs out on a busy machine, too.
    timeoutMS: 30_000,
    reporters: ['progress-append-only'],
    tempDirName: path.join(tmpdir(), 'skillet-stryker'),
    allowConsoleColors: false,
  }).runMutationTest();
  for (const file of mutate) {
    const judged = results.filter(
      ({ fileName, status }) => path.relative(root, fileName) === file && !/Ignored|Error/.test(status),
    );
    const missed = judged.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
    noticed += judged.length - missed.length;
    all += judged.length;
    process.stdout.write(
      `${percent(judged.length - missed.length, judged.length)} ${file}: ${missed.length} of ${judged.length} not noticed\n`,
    );
    for (const { location, mutatorName, replacement = '' } of missed)
      process.stdout.write(
        `  ${file}:${location.start.line}:${location.start.column} ${mutatorName} → ${replacement.replaceAll(/\s+/g, ' ').slice(0, 100)}\n`,
      );
  }
}
process.stdout.write(`${noticed} of ${all} changes noticed: ${percent(noticed, all)}\n`);
if (noticed < all * needed) process.exitCode = 1;

function percent(part: number, whole: number): string {
  return `${whole === 0 ? 100 : Math.floor((part / whole) * 100)} %`;
}
