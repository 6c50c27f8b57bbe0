import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

/** Another process on the same store: see `postgres-worker.ts`. */
export type WorkerProcess = Readonly<{
  tell(line: string): void;
  /** The first line, past or to come, that begins so. */
  says(start: string): Promise<string>;
  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void;
}>;

/** Starts one; it ends with the test. */
export async function startWorker(context: TestContext, url: string): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'postgres-worker.ts'), url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  context.after(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  const waiting = new Set<(line: string) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const hear of [...waiting]) hear(line);
  });
  const worker: WorkerProcess = {
    tell: (line) => void child.stdin.write(`${line}\n`),
    says: (start) =>
      new Promise((resolve) => {
        const found = lines.find((line) => line.startsWith(start));
        if (found !== undefined) return resolve(found);
        const hear = (line: string): void => {
          if (!line.startsWith(start)) return;
          waiting.delete(hear);
          resolve(line);
        };
        waiting.add(hear);
      }),
    signal: (name) => void child.kill(name),
  };
  await worker.says('ready');
  return worker;
}
