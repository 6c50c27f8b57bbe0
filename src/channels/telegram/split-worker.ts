/** Splits one long text in a thread, so that it can't delay the bot (S15). */
import { parentPort, workerData } from 'node:worker_threads';
import { splitForTelegram } from './from-markdown.ts';

parentPort?.postMessage(splitForTelegram(workerData as Parameters<typeof splitForTelegram>[0]));
