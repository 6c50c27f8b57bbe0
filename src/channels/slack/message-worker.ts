/** Writes one long message in a thread, so that it can't delay the bot (S15). */
import { parentPort, workerData } from 'node:worker_threads';
import { toSlackMessage } from './from-markdown.ts';

const { markdown } = workerData as Readonly<{ markdown: string }>;
parentPort?.postMessage(toSlackMessage(markdown));
