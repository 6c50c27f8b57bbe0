import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '../lib/log.ts';
import type { AuditEvent } from './audit-event.ts';
import { pseudonymsIn, type AuditNames } from './audit-names.ts';
import { auditLines, nextDigest, readLine, sha256, type AuditBase, type AuditReport } from './seal.ts';

/**
 * The files of whole days before a time, in milliseconds since 1970. The newest file stays, because its last line is
 * where the chain continues.
 */
export function expiredFiles(files: readonly string[], before: number): readonly string[] {
  const day = new Date(before).toISOString().slice(0, 10);
  return files.slice(0, -1).filter((file) => path.basename(file, '.jsonl') < day);
}

/**
 * Removes the oldest files of the audit, and the ids of people that only these named. First it records how far, then it
 * stores where the record begins now, so it can be repeated after a crash. A damaged part stays (L18).
 */
export async function pruneAudit(
  old: readonly string[],
  audit: Readonly<{
    base: AuditBase;
    report: AuditReport;
    record(event: AuditEvent): Promise<void>;
    setBase(base: AuditBase): Promise<void>;
    files(): Promise<readonly string[]>;
    names: AuditNames;
    log: Log;
  }>,
): Promise<void> {
  const { base, report, names, log } = audit;
  const damaged = report.problems.find(({ file }) => old.some((one) => path.basename(one) === file));
  if (damaged !== undefined) {
    log.error(damaged, 'a damaged part of the audit is past its time, and stays until somebody looked at it');
    return;
  }
  const gone = await endOf(old, base);
  if (gone.seq > base.seq) {
    const { seq: to, digest } = gone;
    await audit.record({ event: 'lines_expired', from: base.seq + 1, to, digest });
    await audit.setBase(gone);
  }
  const named = await namesOf(old);
  for (const file of old) await rm(file);
  await names.expire(named.difference(await namesOf(await audit.files())));
}

/** The number, seal and digest of the last line in these files. */
async function endOf(files: readonly string[], base: AuditBase): Promise<AuditBase> {
  let end = base;
  for await (const { text } of auditLines(files, base)) {
    const { seq, mac } = readLine(text) ?? end;
    end = { seq, mac, digest: nextDigest(end.digest, sha256(text)) };
  }
  return end;
}

async function namesOf(files: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const file of files) for (const name of pseudonymsIn(await readFile(file, 'utf8'))) found.add(name);
  return found;
}
