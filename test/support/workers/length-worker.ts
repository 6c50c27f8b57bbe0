/** Says how long the Markdown is that it was given. */
import { parentPort, workerData } from 'node:worker_threads';

const { markdown } = workerData as Readonly<{ markdown: string }>;
parentPort?.postMessage(`read in a thread: ${markdown.length}`);
