/** Reads one Office file in a thread, so that it can't delay the bot (S15). */
import { parentPort, workerData } from 'node:worker_threads';
import { officeText } from './office-text.ts';

const { bytes, most } = workerData as Readonly<{ bytes: Uint8Array; most: number }>;
parentPort?.postMessage(await officeText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), most));
