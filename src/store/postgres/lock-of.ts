import { createHash } from 'node:crypto';

/** The advisory lock that stands for something: 64 bits of a hash of `what` and `name`. Two names may share one, which only makes them wait for each other. */
export function lockOf(what: 'inbox' | 'outbox' | 'beside' | 'lead' | 'use', name: string): bigint {
  return createHash('sha256').update(`skillet ${what} ${name}`).digest().readBigInt64BE(0);
}
