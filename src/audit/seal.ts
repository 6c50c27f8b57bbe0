import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { AuditEvent } from './audit-event.ts';

/** The end of the chain: number and seal of its last line. */
export type Head = Readonly<{ seq: number; mac: string }>;

/** Before the first line. */
export const beginning: Head = { seq: 0, mac: '' };

/** One line of the audit, without its line end, and the head that it makes. */
export type Sealed = Readonly<{ line: string; head: Head }>;

const numbered = z.object({ seq: z.int().positive() });
const missing = z.object({
  event: z.literal('lines_missing'),
  from: z.number(),
  to: z.number(),
  before: z.string(),
});
const macLength = 64;

/** Seals an event behind a head: HMAC-SHA256 over the seal before and the line, so that no line can be changed, moved or taken away alone. */
export function seal(key: Buffer, before: Head, at: number, event: AuditEvent): Sealed {
  const seq = before.seq + 1;
  const body = JSON.stringify({ seq, at: new Date(at).toISOString(), ...event });
  const mac = macOf(key, before.mac, body);
  return { line: `${body.slice(0, -1)},"mac":"${mac}"}`, head: { seq, mac } };
}

export type Unsealed =
  | Readonly<{ ok: true; head: Head }>
  /** `head`: where the chain goes on from this line, if it can be told. */
  | Readonly<{ ok: false; problem: string; head?: Head }>;

/** Whether a line is what was sealed behind this head. */
export function unseal(key: Buffer, before: Head, line: string): Unsealed {
  const read = readLine(line);
  if (read === undefined) return { ok: false, problem: 'is no line of the audit' };
  const { seq, mac, body } = read;
  const head = { seq, mac };
  const gap = missing.safeParse(JSON.parse(body));
  if (gap.success && isSealedBy(key, gap.data.before, read)) {
    const { from, to } = gap.data;
    return { ok: false, problem: `tells that the lines ${from} to ${to} were gone`, head };
  }
  if (!isSealedBy(key, before.mac, read))
    return {
      ok: false,
      problem: seq === before.seq + 1 ? 'was changed' : `follows line ${before.seq}, but is number ${seq}`,
      head,
    };
  if (seq !== before.seq + 1) return { ok: false, problem: `has the number ${seq}`, head };
  return { ok: true, head };
}

/** Number and seal that a line claims to have; nothing where it is no line of an audit. */
export function readLine(line: string): (Head & Readonly<{ body: string }>) | undefined {
  const [, open, mac] = /^(\{.*),"mac":"([0-9a-f]{64})"\}$/s.exec(line) ?? [];
  if (open === undefined || mac?.length !== macLength) return undefined;
  const body = `${open}}`;
  try {
    const parsed = numbered.safeParse(JSON.parse(body));
    return parsed.success ? { seq: parsed.data.seq, mac, body } : undefined;
  } catch {
    // What does not parse was written by nobody here.
    return undefined;
  }
}

function isSealedBy(
  key: Buffer,
  before: string,
  { mac, body }: Readonly<{ mac: string; body: string }>,
): boolean {
  return timingSafeEqual(Buffer.from(macOf(key, before, body)), Buffer.from(mac));
}

function macOf(key: Buffer, before: string, body: string): string {
  return createHmac('sha256', key).update(`${before}\n${body}`).digest('hex');
}
