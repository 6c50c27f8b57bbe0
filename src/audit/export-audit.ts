import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { skilletVersion } from '../core/version.ts';
import { parseJson } from '../lib/json/json-values.ts';
import { writeWhole } from '../store/write-whole.ts';
import { pseudonymOf, pseudonymsIn, revealed, type AuditNames } from './audit-names.ts';
import { exportWriters, type ExportFormat, type ExportPiece } from './export-formats.ts';
import { matchLines, withoutDirectArguments } from './match-lines.ts';
import { auditLines, nextDigest, readLine, sha256, type AuditBase, type AuditReport } from './seal.ts';
import { signedProof, type ExportProof } from './sign-export.ts';

/** Which lines somebody wants. The others between them are named by their hashes alone. */
export type ExportFilter = Readonly<{
  /** Only lines at this ISO time or later. */
  since?: string | undefined;
  /** Only lines before this ISO time. */
  until?: string | undefined;
  person?: string | undefined;
}>;

export type Exported = Readonly<{
  lines: number;
  withheld: number;
  problems: AuditReport['problems'];
}>;

/**
 * Writes a part of the audit into a new file (0600) with a signed proof as its last line. The proof shows that no line
 * between the first and the last one was changed, moved, added or left out, to people who have only the file and the
 * public key (L18).
 */
export async function exportAudit(
  to: Readonly<{ file: string; format: ExportFormat }> & ExportFilter,
  from: Readonly<{
    key: Buffer;
    chain: string;
    files: readonly string[];
    base: AuditBase;
    names: AuditNames;
    /** What a check of the whole record found. */
    problems: AuditReport['problems'];
    now: number;
  }>,
): Promise<Exported> {
  const { file, format, since, until, person } = to;
  const { key, chain, problems } = from;
  const whose = person === undefined || person.startsWith('#') ? person : pseudonymOf(key, person);
  const writer = exportWriters[format];
  const ids = await from.names.all();
  const used = new Set<string>();
  const sum = { lines: 0, withheld: 0 };
  await writeWhole(file, async (part) => {
    const handle = await open(part, 'w', 0o600);
    const hash = createHash('sha256');
    const write = async (text: string): Promise<void> => {
      hash.update(`${text}\n`);
      await handle.appendFile(`${text}\n`);
    };
    try {
      for (const text of writer.head) await write(text);
      const range = await writeRange(to, from, async (found, isIn) => {
        const piece = isIn ? pieceOf(found, whose, ids) : bare(found);
        if (piece.shown !== undefined) for (const name of pseudonymsIn(found.text)) used.add(name);
        sum[piece.line === undefined ? 'withheld' : 'lines'] += 1;
        await write(writer.piece(piece));
      });
      const proof: ExportProof = {
        ...{ format: 1, skillet: skilletVersion(), chain, made: new Date(from.now).toISOString() },
        ...{ since, until, person, ...range, ...sum, problems },
        names: Object.fromEntries([...ids].filter(([name]) => used.has(name))),
        sha256: hash.digest('hex'),
      };
      await handle.appendFile(`${writer.proof(signedProof(key, proof))}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
  return { ...sum, problems };
}

type Range = Pick<ExportProof, 'from' | 'to' | 'before' | 'head' | 'later'>;
type Found = Readonly<{ text: string; seq: number | undefined; sha256: string }>;

/** Writes the lines from the first to the last one in the time that was asked for, also those between that are not. */
async function writeRange(
  { since, until }: ExportFilter,
  { files, base }: Parameters<typeof exportAudit>[1],
  write: (found: Found, isIn: boolean) => Promise<void>,
): Promise<Range> {
  const [first, end] = [timeOf(since) ?? -Infinity, timeOf(until) ?? Infinity];
  let digest = base.digest;
  let range: Range | undefined;
  let behind: Found[] = [];
  for await (const { text } of auditLines(files, base)) {
    const found: Found = { text, seq: readLine(text)?.seq, sha256: sha256(text) };
    const before = digest;
    digest = nextDigest(before, found.sha256);
    const at = timeOf(atOf(text));
    if (at === undefined || at < first || at >= end) {
      if (range !== undefined) behind.push(found);
      continue;
    }
    // A clock that was set back leaves lines of another time between these.
    for (const one of behind) await write(one, false);
    behind = [];
    await write(found, true);
    const { from, before: start } = range ?? { from: found.seq, before };
    range = { from, before: start, to: found.seq, head: digest, later: 0 };
  }
  const none = { from: undefined, to: undefined, before: digest, head: digest };
  return { ...(range ?? none), later: behind.length };
}

function bare({ seq, sha256 }: Found): ExportPiece {
  return { seq, sha256 };
}

function pieceOf(found: Found, whose: string | undefined, ids: ReadonlyMap<string, string>): ExportPiece {
  const { text } = found;
  if (matchLines([text], { person: whose }).length === 0) return bare(found);
  const plain = withoutDirectArguments(text);
  const shown = parseJson(revealed(plain, ids)) as Readonly<Record<string, unknown>>;
  // What was said in a direct message stays there, so such a line is shown without it (S8).
  return { ...bare(found), line: plain === text ? text : undefined, shown };
}

/** Milliseconds since 1970. */
function timeOf(iso: string | undefined): number | undefined {
  const at = Date.parse(iso ?? '');
  return Number.isNaN(at) ? undefined : at;
}

function atOf(line: string): string | undefined {
  const read = parseJson(line);
  const at = typeof read === 'object' && read !== null && 'at' in read ? read.at : undefined;
  return typeof at === 'string' ? at : undefined;
}
