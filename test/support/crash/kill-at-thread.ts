/**
 * Loaded before the bot (`node --import`): ends its own process by SIGKILL when the first thread starts, or has answered.
 * `SKILLET_KILL_AT` is `started` or `answered`.
 */
import diagnostics from 'node:diagnostics_channel';
import { isMainThread, type Worker } from 'node:worker_threads';

const die = (): void => void process.kill(process.pid, 'SIGKILL');

// Threads load it, too.
if (isMainThread)
  diagnostics.subscribe('worker_threads', (message) => {
    if (process.env['SKILLET_KILL_AT'] === 'started') return die();
    (message as Readonly<{ worker: Worker }>).worker.once('message', die);
  });
