import { printable } from '../../lib/text/text.ts';
import type { Check, Finding } from './finding.ts';

const marks: Readonly<Record<Finding['level'], string>> = { error: '✗', warning: '!', note: '·' };

/** The report for people: one line for each check, and each finding with its reason and its fix. */
export function doctorReport(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(({ name, said, findings }) => {
    const worst = findings.some(({ level }) => level === 'error')
      ? marks.error
      : findings.some(({ level }) => level === 'warning')
        ? marks.warning
        : '✓';
    return `${worst} ${name.padEnd(width)}  ${printable(said)}`;
  });
  const findings = checks.flatMap((one) => one.findings);
  return [...lines, '', ...findings.flatMap(paragraph), countOf(findings)].join('\n');
}

function paragraph({ id, level, what, why, fix, path, line }: Finding): readonly string[] {
  const place = path === undefined ? '' : `  ${path}${line === undefined ? '' : `:${line}`}`;
  return [
    `${marks[level]} ${id}${place}`,
    `  ${printable(what)}`,
    `  Why: ${why}`,
    `  Fix: ${printable(fix)}`,
    '',
  ];
}

function countOf(findings: readonly Finding[]): string {
  const count = (level: Finding['level'], name: string): string => {
    const number = findings.filter((one) => one.level === level).length;
    return `${number} ${name}${number === 1 ? '' : 's'}`;
  };
  return findings.length === 0
    ? 'Everything is in order.'
    : `${count('error', 'error')}, ${count('warning', 'warning')}, ${count('note', 'note')}.`;
}
