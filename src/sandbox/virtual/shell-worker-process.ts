/**
 * The main thread of a shell. The shell runs in a watched worker thread, so that an endless loop or a script that needs
 * too much memory ends only this process. It ends with the bot.
 */
import { Worker } from 'node:worker_threads';
import type { ShellAnswer, ShellSetup } from './shell-worker.ts';

const setup = JSON.parse(process.argv[2] ?? '{}') as ShellSetup;
const name = import.meta.filename.endsWith('.ts') ? './shell-worker-thread.ts' : './shell-worker-thread.js';
const shell = new Worker(new URL(name, import.meta.url), {
  env: {},
  workerData: setup,
  // The rest is for buffers, compiled code and the runtime.
  resourceLimits: { maxOldGenerationSizeMb: setup.memoryMb / 2, maxYoungGenerationSizeMb: 16 },
});

shell.on('message', (message) => process.send?.(message));
shell.on('error', (error: Error & { code?: string }) => {
  leave(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crashed', error.message);
});
process.on('message', (job) => shell.postMessage(job));
process.on('disconnect', () => process.exit(0));
setInterval(() => {
  if (process.memoryUsage.rss() > setup.memoryMb * 1024 * 1024)
    leave('memory', 'resident memory over the limit');
}, 50);

function leave(reason: 'memory' | 'crashed', stderr: string): void {
  const last: ShellAnswer = { status: 'stopped', reason, stdout: '', stderr, truncated: false };
  process.send?.(last, () => process.exit(1));
}
