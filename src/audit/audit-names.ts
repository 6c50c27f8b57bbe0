import { createHmac } from 'node:crypto';
import type { AuditEvent } from './audit-event.ts';
import type { Values } from '../store/patient-keyed.ts';

const fields: ReadonlySet<string> = new Set(['sender', 'conversation', 'requester', 'by', 'approvedBy']);

/**
 * Pseudonyms: `#` and 16 hex digits, stable. Lines never change, so only the store knows the ids and can forget them
 * (Q12).
 */
export type AuditNames = Readonly<{
  /** The event with names for ids; each is kept, so that it can be read again. */
  hide(key: Buffer, event: AuditEvent): Promise<AuditEvent>;
  /** A line with the ids that are still known. */
  reveal(line: string): Promise<string>;
  /** Ids by name. */
  all(): Promise<ReadonlyMap<string, string>>;
  /** With the threads of a conversation. */
  forget(ids: readonly string[]): Promise<void>;
}>;

/** `stored`: namespace `audit-names`. */
export function createAuditNames(stored: Values): AuditNames {
  const kept = new Set<string>();

  async function keep(name: string, id: string): Promise<string> {
    if (!kept.has(name)) {
      await stored.set(name, id);
      kept.add(name);
    }
    return name;
  }

  async function all(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for await (const [name, id] of stored.iterator()) found.set(String(name), String(id));
    return found;
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
    all,
    async forget(ids) {
      for (const [name, known] of await all()) {
        if (!ids.some((id) => known === id || known.startsWith(`${id}/`))) continue;
        kept.delete(name);
        await stored.delete(name);
      }
    },
  };
}

function nameOf(key: Buffer, id: string): string {
  return `#${createHmac('sha256', key).update(`name\n${id}`).digest('hex').slice(0, 16)}`;
}
