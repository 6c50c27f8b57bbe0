import path from 'node:path';
import { run } from 'node:test';

/** `failed`: names of the tests that failed. `broken`: a test or a file ended without a verdict of its own: it hung, or could not be loaded. */
export type Outcome = Readonly<{ passed: number; failed: readonly string[]; broken: readonly string[] }>;

const timeoutMs = 120_000;

/** Runs a test file of a copy, or those of its tests whose names hold `only`. */
export async function runTests(folder: string, test: string, only?: string): Promise<Outcome> {
  const file = path.join(folder, 'test', test);
  const failed: string[] = [];
  const broken: string[] = [];
  let passed = 0;
  const pattern = only?.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const events = run({
    files: [file],
    cwd: folder,
    concurrency: 1,
    timeout: timeoutMs,
    ...(pattern === undefined ? {} : { testNamePatterns: [new RegExp(pattern)] }),
  });
  for await (const { type, data } of events as AsyncIterable<Event>) {
    if (type === 'test:pass' && data.skip === undefined && data.name !== file) passed += 1;
    if (type !== 'test:fail') continue;
    const kind = data.details?.error?.failureType ?? '';
    if (kind === 'subtestsFailed') continue;
    (data.name === file || /timeout|cancelled/i.test(kind) ? broken : failed).push(data.name);
  }
  return { passed, failed, broken };
}

type Event = Readonly<{
  type: string;
  data: Readonly<{
    name: string;
    skip?: unknown;
    details?: Readonly<{ error?: Readonly<{ failureType?: string }> }>;
  }>;
}>;
