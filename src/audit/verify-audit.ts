import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { beginning, unseal, type Head } from './seal.ts';

/** What is wrong at a place of the audit; without a file, with all of it. */
export type AuditProblem = Readonly<{ file: string; line: number; problem: string }>;

export type AuditReport = Readonly<{
  lines: number;
  files: number;
  /** The first twenty. */
  problems: readonly AuditProblem[];
}>;

const mostProblems = 20;

/**
 * Reads the whole audit, oldest file first: finds lines that were changed, moved, added or taken away, the last ones too,
 * for the store kept how far it went (L6). What it can't find: who has the key and the store can write both anew.
 */
export async function verifyAudit(options: {
  files: readonly string[];
  key: Buffer;
  kept: Head | undefined;
  /** Lines that were sealed with a key that is gone. */
  lost: number;
}): Promise<AuditReport> {
  const { files, key, kept, lost } = options;
  const problems: AuditProblem[] = [];
  let head = beginning;
  let lines = 0;
  let rewritten = false;
  let place = { file: '', line: 0 };

  for (const file of files) {
    let line = 0;
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      place = { file: path.basename(file), line: ++line };
      lines += 1;
      const unsealed = unseal(key, head, text);
      if (!unsealed.ok) problems.push({ ...place, problem: unsealed.problem });
      head = unsealed.head ?? head;
      if (kept !== undefined && head.seq === kept.seq && head.mac !== kept.mac) rewritten = true;
    }
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
    problems.push({ ...place, problem: 'is not what the store knows: it was written anew' });
  return { lines, files: files.length, problems: problems.slice(0, mostProblems) };
}
