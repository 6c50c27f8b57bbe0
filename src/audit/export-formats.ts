import { csvLine } from '../lib/text/csv.ts';

export const exportFormats = ['jsonl', 'csv', 'otlp'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** One line of the audit in an export. */
export type ExportPiece = Readonly<{
  /** Undefined if the line can't be read. */
  seq: number | undefined;
  sha256: string;
  /** The line as it was written. Undefined if it is withheld: then the hash alone keeps the chain whole. */
  line?: string;
  /** The line with the ids that are known, for people. Undefined if nothing of it is shown. */
  shown?: Readonly<Record<string, unknown>>;
}>;

/** How an export is written. Each text is one line of the file. */
type Writer = Readonly<{
  head: readonly string[];
  piece(piece: ExportPiece): string;
  /** Writes the signed proof, which is JSON. */
  proof(signed: string): string;
}>;

export const exportWriters: Readonly<Record<ExportFormat, Writer>> = {
  jsonl: {
    head: [],
    piece: ({ seq, sha256, line, shown }) => line ?? JSON.stringify({ seq, sha256, shown }),
    proof: (signed) => signed,
  },
  csv: {
    head: [
      csvLine([
        ...['seq', 'at', 'event', 'who', 'where', 'tool', 'skill', 'outcome', 'by', 'details'],
        ...['sha256', 'line'],
      ]),
    ],
    piece: csvPiece,
    // Base64, because no cell with a formula in it is written as it is.
    proof: (signed) => csvLine(['proof', base64(signed)]),
  },
  otlp: {
    head: [],
    piece: otlpPiece,
    proof: (signed) => otlpRecord({ eventName: 'skillet.audit.proof', body: { stringValue: signed } }),
  },
};

const ownColumns: ReadonlySet<string> = new Set([
  ...['seq', 'at', 'event', 'sender', 'requester', 'conversation', 'tool', 'skill', 'by', 'approvedBy'],
  ...['verdict', 'step', 'outcome', 'policy', 'status', 'code', 'mac'],
]);

function csvPiece({ seq, sha256, line, shown = {} }: ExportPiece): string {
  const cell = (...keys: readonly string[]): string =>
    textOf(keys.map((key) => shown[key]).find((value) => value !== undefined));
  const rest = Object.entries(shown).flatMap(([key, value]) =>
    ownColumns.has(key) ? [] : [`${key}=${textOf(value)}`],
  );
  return csvLine([
    ...[textOf(seq), cell('at'), cell('event'), cell('sender', 'requester'), cell('conversation')],
    ...[cell('tool'), cell('skill'), cell('verdict', 'step', 'outcome', 'policy', 'status', 'code')],
    ...[cell('by', 'approvedBy'), rest.join(' '), sha256, line === undefined ? '' : base64(line)],
  ]);
}

/** A line as a log record of OpenTelemetry. The file is one request of OTLP/JSON a line. */
function otlpPiece({ seq, sha256, line, shown = {} }: ExportPiece): string {
  const { at, event, mac: _mac, seq: _seq, ...rest } = shown;
  const who = rest['sender'] ?? rest['requester'];
  const attributes = {
    'skillet.audit.seq': seq,
    'skillet.audit.sha256': sha256,
    'user.id': who,
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [`skillet.audit.${key}`, value])),
  };
  return otlpRecord({
    timeUnixNano: typeof at === 'string' ? `${BigInt(Date.parse(at)) * 1_000_000n}` : undefined,
    severityNumber: 9,
    severityText: 'INFO',
    eventName: event === undefined ? 'skillet.audit.withheld' : `skillet.audit.${textOf(event)}`,
    body: line === undefined ? undefined : { stringValue: line },
    attributes: Object.entries(attributes).flatMap(([key, value]) =>
      value === undefined ? [] : [{ key, value: otlpValue(value) }],
    ),
  });
}

function otlpValue(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isInteger(value) ? { intValue: `${value}` } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(otlpValue) } };
  return { stringValue: textOf(value) };
}

const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'skillet' } }] };

function otlpRecord(record: object): string {
  return JSON.stringify({
    resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'skillet.audit' }, logRecords: [record] }] }],
  });
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
