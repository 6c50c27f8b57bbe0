import { createHash } from 'node:crypto';
import { laneChannel } from '../lane-channel.ts';
import type { Kind } from './lease.ts';

/** The job engine's queue for a lane: one for each kind of work and channel. */
export function queueOf(kind: Kind, lane: string): string {
  return queueOfChannel(kind, laneChannel(lane));
}

/** The same by the channel's encoded name. pg-boss takes letters, digits, `_`, `.`, `-` and `/`. */
export function queueOfChannel(kind: Kind, encoded: string): string {
  return `${kind}/${encoded.replace(/[^\w.-]/g, (other) => `/${other.charCodeAt(0).toString(16)}`)}`;
}

/** The advisory lock that stands for something: 64 bits of a hash of `what` and `name`. Two names may share one, which only makes them wait for each other. */
export function lockOf(what: 'inbox' | 'outbox' | 'beside' | 'lead' | 'use', name: string): bigint {
  return createHash('sha256').update(`skillet ${what} ${name}`).digest().readBigInt64BE(0);
}
