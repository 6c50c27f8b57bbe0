import { createHash } from 'node:crypto';
import { queueChannel } from '../queue-channel.ts';
import type { QueueKind } from './lease.ts';

/** Name of the job queue, of which each kind and channel has one. */
export function jobQueueOf(kind: QueueKind, queue: string): string {
  return jobQueueOfChannel(kind, queueChannel(queue));
}

/** Name of the job queue for a channel whose name is encoded. pg-boss allows letters, digits, `_`, `.`, `-` and `/`. */
export function jobQueueOfChannel(kind: QueueKind, encoded: string): string {
  return `${kind}/${encoded.replace(/[^\w.-]/g, (other) => `/${other.charCodeAt(0).toString(16)}`)}`;
}

/** Key of an advisory lock: 64 bits of a hash. A collision only makes two names wait for each other. */
export function lockOf(what: 'inbox' | 'outbox' | 'beside' | 'lead' | 'use', name: string): bigint {
  return createHash('sha256').update(`skillet ${what} ${name}`).digest().readBigInt64BE(0);
}
