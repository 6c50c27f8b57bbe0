import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';

/** Something that was done to what the bot keeps, for the operator; never anything that a person said. */
export type AuditEvent = Readonly<
  | {
      event: 'forgotten';
      /** SHA-256 of the person's id, in hex. */
      subject: string;
      counts: Readonly<Record<string, number>>;
    }
  | {
      event: 'skills installed' | 'skills removed';
      source: string;
      commit?: string;
      skills: readonly string[];
    }
>;

/** Appends one line to `<data_dir>/audit/YYYY-MM-DD.jsonl` (0600, UTC). Rejects where that can't be written. */
export async function writeAuditLine(dataDir: string, at: number, event: AuditEvent): Promise<void> {
  const folder = path.join(dataDir, 'audit');
  const time = new Date(at).toISOString();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await appendFile(
    path.join(folder, `${time.slice(0, 10)}.jsonl`),
    `${JSON.stringify({ at: time, ...event })}\n`,
    {
      mode: 0o600,
    },
  );
}
