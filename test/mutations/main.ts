/**
 * `npm run test:mutations [WORD…]`: makes each small change to safety code in a copy of the project and runs the test that has
 * to notice it. Prints the changes that no test noticed, and exits 1 if fewer than 95 % were, or if any was noticed only by a
 * test that hung. With words, only changes whose name or file holds one of them.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { applyMutation } from './apply-mutation.ts';
import { makeCopy } from './make-copy.ts';
import type { Mutation } from './mutation.ts';
import { mutations } from './mutations.ts';
import { runTests } from './run-tests.ts';

type Verdict = 'killed' | 'survived' | 'hung' | 'stale';

const needed = 0.95;
const words = process.argv.slice(2);
const chosen = mutations.filter(
  ({ name, file }) => words.length === 0 || words.some((word) => `${name} ${file}`.includes(word)),
);
const queue = [...chosen];
const verdicts = new Map<Mutation, Verdict>();
const began = performance.now();

await Promise.all(Array.from({ length: availableParallelism() }, work));
report();

async function work(): Promise<void> {
  const copy = await makeCopy();
  try {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { verdict, told } = await judge(next, copy.folder);
      verdicts.set(next, verdict);
      process.stdout.write(
        `${verdict.padEnd(8)} ${next.file}: ${next.name}${told === '' ? '' : ` · ${told}`}\n`,
      );
    }
  } finally {
    await copy.remove();
  }
}

async function judge(
  mutation: Mutation,
  folder: string,
): Promise<Readonly<{ verdict: Verdict; told: string }>> {
  const { test, only } = mutation;
  const file = path.join(folder, 'src', mutation.file);
  const source = await readFile(file, 'utf8');
  await writeFile(file, applyMutation(mutation, source));
  const { failed, broken } = await runTests(folder, test, only);
  await writeFile(file, source);
  if (failed.length > 0) return { verdict: 'killed', told: failed[0] ?? '' };
  if (broken.length > 0) return { verdict: 'hung', told: broken[0] ?? '' };
  // What does not pass as it is can't notice anything.
  const { passed, failed: before } = await runTests(folder, test, only);
  const runs = passed > 0 && before.length === 0;
  return runs
    ? { verdict: 'survived', told: test }
    : { verdict: 'stale', told: `${test} does not pass unchanged` };
}

function report(): void {
  const count = (verdict: Verdict): number => [...verdicts.values()].filter((one) => one === verdict).length;
  const killed = count('killed');
  const seconds = Math.round((performance.now() - began) / 1_000);
  const others = (['survived', 'hung', 'stale'] as const)
    .map((verdict) => `${count(verdict)} ${verdict}`)
    .join(', ');
  process.stdout.write(`${killed} of ${chosen.length} killed, ${others}; ${seconds} s\n`);
  if (killed < chosen.length * needed || count('hung') > 0 || count('stale') > 0) process.exitCode = 1;
}
