import { safeLine } from '../channels/terminal/from-markdown.ts';
import { askBot } from './ask-bot.ts';
import type { Shared } from './command.ts';
import { print, printJson } from './console.ts';
import { oneLine } from '../lib/text/text.ts';

/** Not for people, or shown differently. */
const leftOut: ReadonlySet<string> = new Set([
  ...['seq', 'at', 'event', 'mac', 'argumentsHash', 'call', 'run', 'id', 'ok', 'chatType'],
  ...['sender', 'requester', 'conversation', 'tool', 'skill', 'by', 'approvedBy', 'codes', 'durationMs'],
  ...['verdict', 'outcome', 'policy', 'status', 'step', 'code'],
]);

const longest = 120;

/** Oldest first (L6). */
export async function auditTail({ config, lines, json }: Shared & { lines: number }): Promise<void> {
  const newest = await askBot(config, 'audit tail', lines);
  if (json === true) return newest.length === 0 ? undefined : print(newest.join('\n'));
  print(auditTable(newest) || 'Nothing was recorded.');
}

/** Exit 1 if anything was changed or removed (L6). */
export async function auditVerify({ config, json }: Shared): Promise<void> {
  const report = await askBot(config, 'audit verify');
  if (report.problems.length > 0) process.exitCode = 1;
  if (json === true) return printJson(report);
  for (const { file, line, problem } of report.problems)
    print(file === '' ? `the audit ${problem}` : `${file}: line ${line} ${problem}`);
  const what = `${report.lines} lines in ${report.files} files`;
  print(
    report.problems.length === 0 ? `${what}: as they were written.` : `${what}: not as they were written.`,
  );
}

type Line = Readonly<Record<string, unknown>>;

/** When (UTC), what, who and where, how it ended. */
export function auditTable(lines: readonly string[]): string {
  const read = lines.map((line) => JSON.parse(line) as Line);
  const width = Math.max(0, ...read.map(({ event }) => String(event).length));
  return read.map((line) => row(line, width)).join('\n');
}

function row(line: Line, width: number): string {
  const who = line['sender'] ?? line['requester'];
  const { conversation, skill, by = line['approvedBy'], durationMs, codes = [] } = line;
  const words = [
    who,
    conversation !== undefined && conversation !== who ? `in ${text(conversation)}` : undefined,
    line['tool'],
    skill === undefined ? undefined : `skill ${text(skill)}`,
    ...['verdict', 'step', 'outcome', 'policy', 'status', 'code'].map((key) => line[key]),
    line['ok'] === false ? 'failed' : undefined,
    ...(Array.isArray(codes) ? (codes as readonly unknown[]) : []),
    by === undefined ? undefined : `by ${text(by)}`,
    durationMs === undefined ? undefined : `${text(durationMs)} ms`,
    ...Object.entries(line).flatMap(([key, value]) => (leftOut.has(key) ? [] : [`${key}=${text(value)}`])),
  ];
  const when = String(line['at']).slice(0, 19).replace('T', ' ');
  const what = safeLine(String(line['event'])).padEnd(width);
  return `${when} UTC  ${what}  ${words.flatMap((word) => (word === undefined ? [] : [text(word)])).join('  ')}`.trimEnd();
}

function text(value: unknown): string {
  return oneLine(safeLine(typeof value === 'string' ? value : JSON.stringify(value)), longest);
}
