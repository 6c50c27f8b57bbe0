import { oneLine } from '../lib/text/text.ts';
import { cell, code, person, conversationLink, table, time } from './elements.ts';
import { html, nothing, type Html } from '../lib/text/html.ts';
import type { PageView } from './page.ts';
import { codeMark, plainCode } from './plain-codes.ts';

const longest = 300;

/** A line of the audit, read as data (L6). */
export type AuditLine = Readonly<Record<string, unknown>>;

/** Fields that have columns of their own, or that mean nothing to a reader. */
const inColumns: ReadonlySet<string> = new Set([
  ...['seq', 'at', 'event', 'mac', 'argumentsHash', 'call', 'run', 'id', 'chatType', 'sender', 'requester'],
  ...[
    'conversation',
    'tool',
    'skill',
    'ok',
    'policy',
    'verdict',
    'outcome',
    'status',
    'step',
    'code',
    'codes',
  ],
  ...['textHash', 'memory', 'by', 'approvedBy', 'durationMs', 'keys'],
]);

export function readLines(lines: readonly string[]): readonly AuditLine[] {
  return lines.map((line) => JSON.parse(line) as AuditLine);
}

export function oneOf(query: URLSearchParams, name: string): string {
  return (query.get(name) ?? '').trim();
}

/** Lines of the audit: what, by whom and where, how it ended, and below it the rest in small print. */
export function auditLinesTable(view: PageView, lines: readonly AuditLine[], empty: string): Html {
  const rows = lines.map((line) => [
    cell(time(view, Date.parse(String(line['at'])) || 0)),
    cell(whatOf(line)),
    cell(person(view, textOf(line['sender'] ?? line['requester']))),
    cell(conversationLink(view, textOf(line['conversation']))),
    cell(html`${outcomeOf(line)}${moreOf(line, view)}`),
  ]);
  return table('Audit', ['When', 'Event', 'Person', 'Conversation', 'Outcome'], rows, empty);
}

function whatOf(line: AuditLine): Html {
  const event = String(line['event']);
  const of = [line['tool'], line['skill']].map(textOf).filter((name) => name !== undefined && name !== '');
  return html`<span title="${event}">${plainCode(event)}</span> ${of.map((name) => html`${code(name)} `)}`;
}

function outcomeOf(line: AuditLine): Html {
  const codes = Array.isArray(line['codes']) ? (line['codes'] as readonly unknown[]) : [];
  const words = ['policy', 'verdict', 'step', 'outcome', 'status', 'code'].map((key) => textOf(line[key]));
  const failed = line['ok'] === false && codes.length === 0 ? ['failed'] : [];
  const all = [...words, ...failed, ...codes.map(textOf)].filter((word) => word !== undefined);
  return html`${[...new Set(all)].filter((word) => word !== '').map((word) => html`${codeMark(word)} `)}`;
}

function moreOf(line: AuditLine, view: PageView): Html {
  const by = textOf(line['approvedBy'] ?? line['by']);
  const keys = Array.isArray(line['keys']) ? line['keys'].map(String) : [];
  const ms = line['durationMs'];
  const rest = Object.entries(line).filter(([key]) => !inColumns.has(key));
  const words = [
    ...(typeof ms === 'number' ? [view.times.length(ms)] : []),
    ...keys,
    ...rest.map(([key, value]) => `${plainCode(key)} ${textOf(value)}`),
  ];
  const text = oneLine(words.join(' · '), longest);
  if (by === undefined && text === '') return nothing;
  return html`<small class="more"
    >${by === undefined ? nothing : html`by ${person(view, by)} `}${text}</small
  >`;
}

export function whoIn(line: AuditLine): readonly string[] {
  return [line['sender'], line['requester'], line['by'], line['approvedBy']].filter(
    (id) => typeof id === 'string',
  );
}

export function textOf(value: unknown): string | undefined {
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}
