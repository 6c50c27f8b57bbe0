import { createHmac } from 'node:crypto';
import type { Values } from '../store/patient-keyed.ts';
import type { AuditEvent } from './audit-event.ts';

/**
 * People and conversations stand in the audit under names that tell nothing (`#` and 16 hex digits, the same for the same
 * id): a line is never changed, so what a person's id is stands in the store alone, where it can be forgotten (Q12).
 */
export type AuditNames = Readonly<{
  /** The event with names for ids; each is kept, so that it can be read again. */
  hide(key: Buffer, event: AuditEvent): Promise<AuditEvent>;
  /** A line with the ids that are still known. */
  reveal(line: string): Promise<string>;
  /** From now on nobody can tell who these were. */
  forget(key: Buffer, ids: readonly string[]): Promise<void>;
}>;

const fields: ReadonlySet<string> = new Set(['sender', 'conversation', 'requester', 'by', 'approvedBy']);

/** `stored`: of the namespace `audit-names`. */
export function createAuditNames(stored: Values): AuditNames {
  const kept = new Set<string>();

  async function keep(name: string, id: string): Promise<string> {
    if (!kept.has(name)) {
      await stored.set(name, id);
      kept.add(name);
    }
    return name;
  }

  return {
    async hide(key, event) {
      const hidden: Record<string, unknown> = { ...event };
      for (const [field, value] of Object.entries(event))
        if (fields.has(field) && typeof value === 'string')
          hidden[field] = await keep(nameOf(key, value), value);
      return hidden as AuditEvent;
    },
    async reveal(line) {
      const names = new Set(line.match(/"#[0-9a-f]{16}"/g));
      let told = line;
      for (const quoted of names) {
        const id = await stored.get<string>(quoted.slice(1, -1));
        if (id !== undefined) told = told.replaceAll(quoted, () => JSON.stringify(id));
      }
      return told;
    },
    async forget(key, ids) {
      for (const id of ids) {
        const name = nameOf(key, id);
        kept.delete(name);
        await stored.delete(name);
      }
    },
  };
}

function nameOf(key: Buffer, id: string): string {
  return `#${createHmac('sha256', key).update(`name\n${id}`).digest('hex').slice(0, 16)}`;
}
