import { Worker } from 'node:worker_threads';
import { createMutex } from '../async/mutex.ts';
import { untilAborted } from '../async/on-abort.ts';

/**
 * The answer of a thread. `time`: it was ended because it took too long. `failed`: it threw an error or needed too much
 * memory.
 */
export type WorkerResult<Answer> = Readonly<
  { ok: true; answer: Answer } | { ok: false; why: 'time' | 'failed'; cause: unknown }
>;

/** In MB of the heap. Bytes of files are outside of it. */
const memoryMb = 256;

/**
 * Does work on what others sent, in a thread that can be ended, so that it delays nobody (S15). It does one piece of
 * work at a time; waiting does not count as time. `name` is a module without its ending that answers its `workerData`
 * once. Rejects only if `signal` is aborted.
 */
export function createWorkerTask<Input, Answer>(
  name: URL,
  options: Readonly<{ ms: number }>,
): (input: Input, signal: AbortSignal) => Promise<WorkerResult<Answer>> {
  const inTurn = createMutex();
  return (input, signal) => inTurn(() => run<Answer>(name, { input, signal, ms: options.ms }));
}

async function run<Answer>(
  name: URL,
  { input, signal, ms }: Readonly<{ input: unknown; signal: AbortSignal; ms: number }>,
): Promise<WorkerResult<Answer>> {
  signal.throwIfAborted();
  const file = new URL(`${name.href}${import.meta.filename.endsWith('.ts') ? '.ts' : '.js'}`);
  const timeout = AbortSignal.timeout(ms);
  let worker: Worker | undefined;
  try {
    // Throws if the machine has no thread left.
    const started = (worker = new Worker(file, {
      env: {},
      workerData: input,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    }));
    const answered = new Promise<Answer>((resolve, reject) => {
      started.once('message', resolve).once('error', reject);
      started.once('exit', () => reject(new Error('the work was ended')));
    });
    return { ok: true, answer: await untilAborted(answered, AbortSignal.any([signal, timeout])) };
  } catch (cause) {
    signal.throwIfAborted();
    return { ok: false, why: timeout.aborted ? 'time' : 'failed', cause };
  } finally {
    await worker?.terminate();
  }
}
