/** Shortens the tables of one long answer in a thread, so that it can't delay the bot (S15). */
import { parentPort, workerData } from 'node:worker_threads';
import { takeLargeTables } from './large-tables.ts';

parentPort?.postMessage(takeLargeTables(workerData as Parameters<typeof takeLargeTables>[0]));
