import path from 'node:path';
import { auditKinds, auditPerson } from '../audit/audit-event.ts';
import type { ExportFormat } from '../audit/export-formats.ts';
import type { AuditFilter } from '../audit/match-lines.ts';
import { safeLine } from '../channels/terminal/from-markdown.ts';
import { askBot } from './ask-bot.ts';
import type { SharedOptions } from './command.ts';
import { print, printJson, untilInterrupted, waited, printList } from './console.ts';
import { OperatorError } from '../core/errors.ts';
import { skilletHere } from '../core/skillet-here.ts';
import { nearest, oneLine } from '../lib/text/text.ts';

/** Fields that mean nothing to people, or that have a place of their own. */
const leftOut: ReadonlySet<string> = new Set([
  ...['seq', 'at', 'event', 'mac', 'argumentsHash', 'call', 'run', 'id', 'ok', 'chatType'],
  ...['sender', 'requester', 'conversation', 'tool', 'skill', 'by', 'approvedBy', 'codes', 'durationMs'],
  ...['verdict', 'outcome', 'policy', 'status', 'step', 'code'],
]);

const longest = 120;

type Tail = SharedOptions &
  Omit<AuditFilter, 'since'> &
  Readonly<{ lines: number; since?: string; follow?: boolean }>;

const followMs = 1_000;

/** Shows the newest lines of the audit, the oldest first (L6). `follow` shows new lines, too, until Ctrl-C. */
export async function auditTail({ config, json, follow, lines, ...filter }: Tail): Promise<void> {
  const { person, skill, kind } = filter;
  checkFilter(filter);
  const since = filter.since === undefined ? undefined : sinceWhen(filter.since, Date.now());
  const asked = JSON.parse(JSON.stringify({ lines, person, skill, kind, since })) as { lines: number };
  const show = (newest: readonly string[]): void => {
    if (json === true && newest.length > 0) print(newest.join('\n'));
    else if (json !== true) printList(auditTable(newest));
  };
  using interrupted = follow === true ? untilInterrupted(new OperatorError('stopped')) : undefined;
  const first = await askBot(config, 'audit tail', asked);
  if (first.length === 0 && json !== true && follow !== true) return print('Nothing was recorded.');
  show(first);
  if (interrupted === undefined) return;
  let seen = new Set(first);
  while (await waited(followMs, interrupted.signal)) {
    const newest = await askBot(config, 'audit tail', { ...asked, lines: Math.max(lines, mostAtOnce) });
    show(newest.filter((line) => !seen.has(line) && !isOlder(line, first)));
    seen = new Set([...newest, ...first]);
  }
}

/** How many lines one look may bring. */
const mostAtOnce = 1_000;

/** Whether a line is older than the first one shown. A longer look also brings such lines. */
function isOlder(line: string, [oldest]: readonly string[]): boolean {
  if (oldest === undefined) return false;
  const at = (text: string): string => String((JSON.parse(text) as Line)['at']);
  return at(line) < at(oldest);
}

/** Throws OperatorError with the fix for a filter that can match nothing, which would show an empty record. */
function checkFilter({ person, kind }: Readonly<{ person?: string; kind?: string }>): void {
  if (person !== undefined && !auditPerson.test(person))
    throw new OperatorError(`--person ${person}: write a whole id, such as telegram:42 or slack:U024BE7LH.`);
  if (kind === undefined || auditKinds.includes(kind)) return;
  const near = nearest(kind, auditKinds);
  const fix =
    near.length > 0 ? `did you mean ${near.join(' or ')}?` : `write one of ${auditKinds.join(', ')}.`;
  throw new OperatorError(`--kind ${kind}: ${fix}`);
}

/**
 * Reads a time as ISO text: `2h`, `30m` or `7d` ago, or a day or time in ISO form, in UTC if it names no zone. Throws
 * OperatorError.
 */
export function sinceWhen(text: string, now: number, flag = '--since'): string {
  const [, count, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
  const [, day, time = 'T00:00', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  const at =
    unit === undefined ? Date.parse(`${day ?? ''}${time}${zone}`) : now - Number(count) * (units[unit] ?? 0);
  // JavaScript reads 30 February as 2 March.
  const isNoDay = day !== undefined && new Date(Date.parse(day) || 0).getUTCDate() !== Number(day.slice(-2));
  if (Number.isNaN(at) || isNoDay)
    throw new OperatorError(
      `${flag} ${text}: write how long ago, such as 30m, 2h or 7d, or a day such as 2026-11-24.`,
    );
  if (at > now) throw new OperatorError(`${flag} ${text}: that is still to come.`);
  return new Date(at).toISOString();
}

/** Checks the whole audit. Exit code 1 if anything was changed or removed (L6). */
export async function auditVerify({ config, json }: SharedOptions): Promise<void> {
  const report = await askBot(config, 'audit verify');
  if (report.problems.length > 0) process.exitCode = 1;
  if (json === true) return printJson(report);
  printList(
    report.problems.map(({ file, line, problem }) =>
      file === '' ? `the audit ${problem}` : `${file}: line ${line} ${problem}`,
    ),
  );
  const what = `${report.lines} lines in ${report.files} files`;
  print(report.problems.length === 0 ? `${what}: unchanged.` : `${what}: changed.`);
}

type Export = SharedOptions &
  Readonly<{ file: string; format: ExportFormat; since?: string; until?: string; person?: string }>;

/** Writes a part of the audit with a signed proof. Exit code 1 if the audit itself was changed (L18). */
export async function auditExport({ config, json, file, format, person, ...times }: Export): Promise<void> {
  checkFilter({ person });
  const now = Date.now();
  const [since, until] = (['since', 'until'] as const).map((name) => {
    const text = times[name];
    return text === undefined ? undefined : sinceWhen(text, now, `--${name}`);
  });
  const to = path.resolve(file);
  const report = await askBot(config, 'audit export', { file: to, format, since, until, person });
  if (report.problems.length > 0) process.exitCode = 1;
  if (json === true) return printJson({ file: to, ...report });
  const { lines, withheld, problems } = report;
  print(`${to} is written: ${lines} lines, ${withheld} of which it has only the hash, and a signed proof.`);
  if (problems.length > 0)
    print(`The audit was changed, and the proof says so: \`${skilletHere()} audit verify\` shows where.`);
}

type Line = Readonly<Record<string, unknown>>;

/** Lines of the audit for people: when (UTC), what, who and where, and how it ended. */
export function auditTable(lines: readonly string[]): readonly string[] {
  const read = lines.map((line) => JSON.parse(line) as Line);
  const width = Math.max(0, ...read.map(({ event }) => String(event).length));
  return read.map((line) => row(line, width));
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
