import type { InboxItem } from '../store/inbox.ts';

/** Whether an item was worked on before: its process ended under it, a shutdown cut it off, or a try failed. */
export function wasBegun({ interruptedAt, error }: InboxItem): boolean {
  return interruptedAt !== undefined || error !== undefined;
}
