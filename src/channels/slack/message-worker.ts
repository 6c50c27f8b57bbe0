/** Writes one long message in a thread, so that it can't delay the bot (S15). */
import { parentPort, workerData } from 'node:worker_threads';
import { toTabledMessage, type Tabled } from './from-markdown.ts';

parentPort?.postMessage(toTabledMessage(workerData as Tabled));
