/** Does what it is told: answers, throws, fills its memory or never ends. */
import { parentPort, workerData } from 'node:worker_threads';

if (workerData === 'throw') throw new Error('broken');
const kept: number[][] = [];
while (workerData === 'loop' || workerData === 'fill')
  if (workerData === 'fill') kept.push(new Array<number>(1_000_000).fill(kept.length + 0.5));
parentPort?.postMessage(`read ${String(workerData)} with ${Object.keys(process.env).length} variables`);
