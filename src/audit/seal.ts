import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { AuditEvent } from './audit-event.ts';
import { parseJson } from '../lib/json/json-values.ts';

const mostProblems = 20;

/** The end of the chain: number and seal of its last line. */
export type Head = Readonly<{ seq: number; mac: string }>;

export const beginning: Head = { seq: 0, mac: '' };

/** Where the lines that are kept begin: behind the last line that retention removed (L18). */
export type AuditBase = Head & Readonly<{ digest: string }>;

export const firstBase: AuditBase = { ...beginning, digest: '' };

/** Returns the SHA-256 of the data as 64 hexadecimal digits. */
export function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

/**
 * The digest of the record up to a line: the SHA-256 of the digest before and of the line's own SHA-256. Unlike seals,
 * people without the key can compute it (L18).
 */
export function nextDigest(before: string, lineHash: string): string {
  return sha256(before + lineHash);
}

type PlacedLine = Readonly<{ text: string; file: string; line: number }>;

/** Reads lines in their order. Lines that retention is about to remove are left out; `base` is the last of them. */
export async function* auditLines(files: readonly string[], base: Head): AsyncGenerator<PlacedLine> {
  let isBehindBase = base.seq === 0;
  for (const file of files) {
    let line = 0;
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      line += 1;
      isBehindBase ||= (readLine(text)?.seq ?? base.seq + 1) > base.seq;
      if (isBehindBase) yield { text, file, line };
    }
  }
}

/** `line` has no line end. */
type Sealed = Readonly<{ line: string; head: Head }>;

const claimed = z.object({ seq: z.int().positive(), mac: z.string().regex(/^[0-9a-f]{64}$/) });
const missing = z.object({
  event: z.literal('lines_missing'),
  from: z.number(),
  to: z.number(),
  before: z.string(),
});

/** HMAC-SHA256 over the seal before and the line: no line can be changed, moved or removed alone. */
export function seal(key: Buffer, before: Head, at: number, event: AuditEvent): Sealed {
  const seq = before.seq + 1;
  const body = JSON.stringify({ seq, at: new Date(at).toISOString(), ...event });
  const mac = macOf(key, before.mac, body);
  return { line: `${body.slice(0, -1)},"mac":"${mac}"}`, head: { seq, mac } };
}

type Unsealed =
  | Readonly<{ ok: true; head: Head }>
  /** `head` is where checking continues; undefined if the line cannot be read. */
  | Readonly<{ ok: false; problem: string; head?: Head }>;

function unseal(key: Buffer, before: Head, line: string): Unsealed {
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

/** Number and seal that a line claims to have; undefined if it is not an audit line. */
export function readLine(line: string): (Head & Readonly<{ body: string }>) | undefined {
  const { data } = claimed.safeParse(parseJson(line));
  const ending = `,"mac":"${data?.mac}"}`;
  return data && line.endsWith(ending) ? { ...data, body: `${line.slice(0, -ending.length)}}` } : undefined;
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

/** `file` is empty for a problem of the whole audit. */
type AuditProblem = Readonly<{ file: string; line: number; problem: string }>;

export type AuditReport = Readonly<{
  lines: number;
  files: number;
  /** At most the first twenty problems; more are not reported. */
  problems: readonly AuditProblem[];
}>;

/** Finds changed, moved, added or removed lines, also at the end (L6). Can't find a rewrite with both key and store. */
export async function verifyAudit(options: {
  files: readonly string[];
  key: Buffer;
  kept: Head | undefined;
  base?: Head;
  /** Lines that were sealed with a key that is gone. */
  lost: number;
}): Promise<AuditReport> {
  const { files, key, kept, base = beginning, lost } = options;
  const problems: AuditProblem[] = [];
  let head = base;
  let lines = 0;
  let rewritten = false;
  let place = { file: '', line: 0 };

  for await (const { text, file, line } of auditLines(files, base)) {
    place = { file: path.basename(file), line };
    lines += 1;
    const unsealed = unseal(key, head, text);
    if (!unsealed.ok) problems.push({ ...place, problem: unsealed.problem });
    head = unsealed.head ?? head;
    if (kept !== undefined && head.seq === kept.seq && head.mac !== kept.mac) rewritten = true;
  }
  if (lost > 0)
    problems.push({
      ...{ file: '', line: 0 },
      problem: `lacks ${lost} lines: they were deleted together with their key`,
    });
  if (kept !== undefined && head.seq < kept.seq)
    problems.push(
      lines === 0
        ? { ...place, problem: `is empty, but ${kept.seq} lines were written` }
        : { ...place, problem: `is the last line, and ${kept.seq - head.seq} more were written` },
    );
  else if (rewritten)
    problems.push({ ...place, problem: 'is not what the store knows: it was written again' });
  return { lines, files: files.length, problems: problems.slice(0, mostProblems) };
}
