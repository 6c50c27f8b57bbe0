import type { Log } from '../lib/log.ts';
import type { Message } from '../core/message.ts';
import { readStored } from './stored-json.ts';
import { storedMessage } from './stored-message.ts';

/** What is read of an overheard message. */
export type OverheardRow = Readonly<{ key: string; message: string }>;

/** The messages of rows. A damaged one is left out and reported (Q11). */
export function readOverheard(rows: readonly OverheardRow[], log: Log): readonly Message[] {
  return rows.flatMap(({ key, message }) => {
    const stored = readStored(storedMessage, message);
    if (stored.ok) return [stored.value];
    log.warn({ message: key, reason: stored.reason }, 'an overheard message is damaged and was left out');
    return [];
  });
}
