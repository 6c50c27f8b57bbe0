/** Splits one long text in a thread, so that it can't delay the bot (S15). */
import { parentPort, workerData } from 'node:worker_threads';
import { splitForSlack } from './from-markdown.ts';

parentPort?.postMessage(splitForSlack(workerData as Parameters<typeof splitForSlack>[0]));
