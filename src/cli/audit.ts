import type { AuditReport } from '../audit/verify-audit.ts';
import { askBot } from './ask-bot.ts';
import type { ReadOptions } from './options.ts';
import { auditTable } from './audit-table.ts';
import { print, printJson } from './print.ts';

/** `audit tail`: the newest lines, oldest first, with the ids that are still known (L6). With `--json` as they are in the file. */
export async function auditTail({ config, lines, json }: ReadOptions & { lines: number }): Promise<void> {
  const newest = (await askBot('audit tail', String(lines), config)) as readonly string[];
  if (json === true) return newest.length === 0 ? undefined : print(newest.join('\n'));
  print(auditTable(newest) || 'Nothing was recorded.');
}

/** `audit verify`: whether anything was changed or taken away (L6). Exit 1 where it was. */
export async function auditVerify({ config, json }: ReadOptions): Promise<void> {
  const report = (await askBot('audit verify', '', config)) as AuditReport;
  if (report.problems.length > 0) process.exitCode = 1;
  if (json === true) return printJson(report);
  for (const { file, line, problem } of report.problems)
    print(file === '' ? `the audit ${problem}` : `${file}: line ${line} ${problem}`);
  const what = `${report.lines} lines in ${report.files} files`;
  print(
    report.problems.length === 0 ? `${what}: as they were written.` : `${what}: not as they were written.`,
  );
}
