import { createHmac } from 'node:crypto';
import type { AuditEvent } from './audit-event.ts';
import type { Values } from '../store/patient-keyed.ts';

const fields: ReadonlySet<string> = new Set(['sender', 'conversation', 'requester', 'by', 'approvedBy']);

/**
 * Pseudonyms: `#` and 16 hex digits, stable. Lines never change, so only the store knows the ids and can forget them
 * (Q12).
 */
export type AuditNames = Readonly<{
  /** Returns the event with pseudonyms in place of ids, and keeps each pair, so that `reveal` can read it. */
  hide(key: Buffer, event: AuditEvent): Promise<AuditEvent>;
  /** Returns the line with each id that is still known in place of its pseudonym. */
  reveal(line: string): Promise<string>;
  /** All known ids by their pseudonyms. */
  all(): Promise<ReadonlyMap<string, string>>;
  /** Removes the pairs of these ids and, for a conversation, those of its threads. */
  forget(ids: readonly string[]): Promise<void>;
  /** Removes the pairs of these pseudonyms, unless this process used them. */
  expire(names: Iterable<string>): Promise<void>;
}>;

/** Keeps pseudonyms in `stored`, which is the store's namespace `audit-names`. */
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
          hidden[field] = await keep(pseudonymOf(key, value), value);
      return hidden as AuditEvent;
    },
    async reveal(line) {
      const found = new Map<string, string>();
      for (const name of pseudonymsIn(line)) {
        const id = await stored.get<string>(name);
        if (id !== undefined) found.set(name, id);
      }
      return revealed(line, found);
    },
    all,
    async forget(ids) {
      for (const [name, known] of await all()) {
        if (!ids.some((id) => known === id || known.startsWith(`${id}/`))) continue;
        kept.delete(name);
        await stored.delete(name);
      }
    },
    async expire(names) {
      for (const name of names) if (!kept.has(name)) await stored.delete(name);
    },
  };
}

/** The pseudonyms that are in a line, each once. */
export function pseudonymsIn(line: string): ReadonlySet<string> {
  return new Set([...line.matchAll(/"(#[0-9a-f]{16})"/g)].flatMap(([, name]) => name ?? []));
}

/** The line with ids in place of the pseudonyms that are known. */
export function revealed(line: string, ids: ReadonlyMap<string, string>): string {
  let told = line;
  for (const name of pseudonymsIn(line)) {
    const id = ids.get(name);
    if (id !== undefined) told = told.replaceAll(`"${name}"`, () => JSON.stringify(id));
  }
  return told;
}

export function pseudonymOf(key: Buffer, id: string): string {
  return `#${createHmac('sha256', key).update(`name\n${id}`).digest('hex').slice(0, 16)}`;
}
