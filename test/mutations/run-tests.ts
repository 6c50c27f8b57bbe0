import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import path from 'node:path';

/** `failed`: names of the tests that failed. `broken`: a test or a file ended without a verdict: it hung, or could not be loaded. */
export type Outcome = Readonly<{ passed: number; failed: readonly string[]; broken: readonly string[] }>;

/** More than the 60 seconds for which a test server waits. */
const timeoutMs = 150_000;

/** Runs a test file of a copy, or those of its tests whose names hold `only`. */
export async function runTests(folder: string, test: string, only?: string): Promise<Outcome> {
  const file = path.join(folder, 'test', test);
  const pattern = only?.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const args = [
    '--test',
    '--test-reporter=tap',
    ...(pattern === undefined ? [] : [`--test-name-pattern=${pattern}`]),
  ];
  const child = spawn(process.execPath, [...args, file], {
    cwd: folder,
    // Its group ends with it, whatever the tests started.
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  }, timeoutMs);
  const tap = await text(child.stdout);
  clearTimeout(timer);
  return { ...read(tap, file), ...(hung ? { broken: [file] } : {}) };
}

function read(tap: string, file: string): Outcome {
  const passed = (tap.match(/^ok \d+ - (?!.*# SKIP)/gm) ?? []).length;
  const failed: string[] = [];
  const broken: string[] = [];
  for (const [, name = '', details = ''] of tap.matchAll(/^ *not ok \d+ - (.*)\n((?: .*\n)*)/gm)) {
    const [, kind = ''] = /failureType: '(\w+)'/.exec(details) ?? [];
    if (kind === 'subtestsFailed') continue;
    (name === file || /timeout|cancelled/i.test(kind) ? broken : failed).push(name);
  }
  return { passed, failed, broken };
}
