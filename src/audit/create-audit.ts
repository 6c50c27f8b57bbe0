import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, readFile, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import type { AuditEvent } from './audit-event.ts';
import { auditFiles, auditFolder, auditKeyFile, lastLine, lostStore, openAuditKey } from './audit-files.ts';
import { createAuditNames, revealed } from './audit-names.ts';
import { exportAudit, type Exported } from './export-audit.ts';
import { matchLines } from './match-lines.ts';
import { meetingsIn, type Meeting } from './meetings.ts';
import { expiredFiles, pruneAudit } from './prune-audit.ts';
import { OperatorError } from '../core/errors.ts';
import {
  beginning,
  firstBase,
  readLine,
  seal,
  verifyAudit,
  type AuditBase,
  type AuditReport,
  type Head,
} from './seal.ts';
import { publicKeyOf } from './sign-export.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Values } from '../store/patient-keyed.ts';
import { skilletHere } from '../core/skillet-here.ts';

/** Where the parts of the bot record what they did (L6). */
export type AuditWriter = Readonly<{
  /** Resolves once the line is written. It never rejects: a failure is logged. */
  record(event: AuditEvent): Promise<void>;
}>;

/** The record of who did what, as operators read and keep it (L6). */
export type Audit = AuditWriter &
  Readonly<{
    holds(id: string, since: number): Promise<boolean>;
    verify(): Promise<AuditReport>;
    /** Writes lines and a signed proof into a new file (L18). Throws OperatorError if nothing was recorded yet. */
    exportTo(to: Parameters<typeof exportAudit>[0]): Promise<Exported>;
    /** The public key of exports as PEM. Throws OperatorError if nothing was recorded yet. */
    publicKey(): Promise<string>;
    /** Removes whole days before this time, in milliseconds since 1970, and says so in the record (L18). */
    prune(before: number): Promise<void>;
    /** Returns the last lines, oldest first, with the ids that are still known. */
    tail(lines: number): Promise<readonly string[]>;
    /** Returns the lines at this ISO time or later, with the ids that are still known. */
    since(time: string): Promise<readonly string[]>;
    /** Who wrote to the bot in which direct messages, as far as the audit still knows their ids. */
    meetings(): Promise<readonly Meeting[]>;
    /** Makes the lines of these people and conversations anonymous, threads included (Q12). */
    forget(ids: readonly string[]): Promise<void>;
    /** Resolves once all recorded lines are written. */
    settled(): Promise<void>;
  }>;

/** A crash leaves at most this many lines ahead of the head that the store knows. */
const mostAtOnce = 16;

type Waiting = Readonly<{ event: AuditEvent; at: number; written(): void }>;

/**
 * Appends to `<data_dir>/audit/YYYY-MM-DD.jsonl` (0600, UTC), each line sealed to the one before. The store keeps the
 * head, so a cut end is noticed. One writer a data directory.
 */
export function createAudit(options: {
  dataDir: string;
  /** Result of `auditPlace`: which data directory wrote the head, where several share a store. */
  place?: string;
  keyed: (namespace: string) => Values;
  clock: Clock;
  log: Log;
}): Audit {
  const { dataDir, place = '', keyed, clock, log } = options;
  const stored = keyed('audit');
  const bases = keyed('audit-base');
  const names = createAuditNames(keyed('audit-names'));
  const queue: Waiting[] = [];
  let chain: Promise<Chain> | undefined;
  let writing: Promise<void> | undefined;

  async function openChain(): Promise<Chain> {
    const { key, name, kept } = await beginAudit(dataDir, place, stored);
    const file = (await auditFiles(dataDir)).at(-1);
    const line = file === undefined ? undefined : await lastLine(file);
    const last = line === undefined ? beginning : readLine(line);
    if (last === undefined)
      log.error(
        { file },
        `the last line of the audit is none of ours: run \`${skilletHere()} audit verify\``,
      );
    const day = file === undefined ? '' : path.basename(file, '.jsonl');
    // A crash between writing and storing leaves lines ahead of the head.
    if (last !== undefined && last.seq >= kept.seq)
      return { key, name, head: { seq: last.seq, mac: last.mac }, day };
    const from = (last?.seq ?? 0) + 1;
    log.error(
      { from, to: kept.seq },
      'lines of the audit are gone: removed, or lost when the machine stopped',
    );
    const gap: AuditEvent = { event: 'lines_missing', from, to: kept.seq, before: kept.mac };
    return append({ key, name, head: kept, day }, [{ event: gap, at: clock.now() }]);
  }

  /** Writes the files before the head. A failed write is cut off again. */
  async function append(from: Chain, events: readonly Pick<Waiting, 'event' | 'at'>[]): Promise<Chain> {
    let { head, day } = from;
    const texts = new Map<string, string>();
    for (const { event, at } of events) {
      const today = new Date(at).toISOString().slice(0, 10);
      // If the clock was set back, lines stay in the newest file, so that files keep their order.
      if (today > day) day = today;
      const sealed = seal(from.key, head, at, await names.hide(from.key, event));
      head = sealed.head;
      texts.set(day, `${texts.get(day) ?? ''}${sealed.line}\n`);
    }
    for (const [date, text] of texts) await write(path.join(auditFolder(dataDir), `${date}.jsonl`), text);
    await stored.set(from.name, { ...head, place });
    return { ...from, head, day };
  }

  /** How many lines this data directory had under keys that are gone. */
  async function linesOfOtherKeys(name: string): Promise<number> {
    let lines = 0;
    for await (const [key, value] of stored.iterator()) {
      const other = value as Head & Readonly<{ place?: string }>;
      if (key !== name && (other.place ?? place) === place) lines += other.seq;
    }
    return lines;
  }

  async function flush(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, mostAtOnce);
      try {
        chain = append(await (chain ??= openChain()), batch);
        await chain;
      } catch (error) {
        // Opens the chain again next time, because part of the batch may be written.
        chain = undefined;
        const events = batch.map(({ event }) => event.event);
        log.error({ err: error, events }, 'the audit could not record an event');
      }
      for (const { written } of batch) written();
    }
    // Set without waiting in between, so that the next event starts a new writer.
    writing = undefined;
  }

  const record: Audit['record'] = (event) =>
    new Promise((resolve) => {
      queue.push({ event, at: clock.now(), written: resolve });
      writing ??= flush();
    });

  async function knownKey(): ReturnType<typeof openAuditKey> {
    if (existsSync(auditKeyFile(dataDir))) return openAuditKey(dataDir);
    throw new OperatorError(`nothing was recorded yet: ${auditFolder(dataDir)} has no audit`);
  }

  async function check() {
    await writing;
    // Verifying creates no key. Without one, no line can be checked.
    const { key, chain: name } = existsSync(auditKeyFile(dataDir))
      ? await openAuditKey(dataDir)
      : { key: randomBytes(32), chain: '' };
    const files = await auditFiles(dataDir);
    const base = (await bases.get<AuditBase>(name)) ?? firstBase;
    const kept = await stored.get<Head>(name);
    const report = await verifyAudit({ files, key, kept, base, lost: await linesOfOtherKeys(name) });
    return { key, chain: name, files, base, report };
  }

  return {
    record,
    async holds(id, since) {
      await writing;
      const first = path.join(auditFolder(dataDir), `${new Date(since).toISOString().slice(0, 10)}.jsonl`);
      for (const file of await auditFiles(dataDir))
        if (file >= first && (await readFile(file, 'utf8')).includes(`"id":${JSON.stringify(id)}`))
          return true;
      return false;
    },
    async tail(lines) {
      await writing;
      const newest: string[] = [];
      for (const file of (await auditFiles(dataDir)).toReversed()) {
        if (newest.length >= lines) break;
        const text = (await readFile(file, 'utf8')).trimEnd();
        if (text !== '') newest.unshift(...text.split('\n').slice(newest.length - lines));
      }
      return Promise.all(newest.map(names.reveal));
    },
    async since(time) {
      await writing;
      const ids = await names.all();
      const first = path.join(auditFolder(dataDir), `${time.slice(0, 10)}.jsonl`);
      const files = (await auditFiles(dataDir)).filter((file) => file >= first);
      const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
      const lines = texts.flatMap((text) => text.trimEnd().split('\n'));
      return matchLines(
        lines.filter((line) => readLine(line) !== undefined),
        { since: time },
      ).map((line) => revealed(line, ids));
    },
    async meetings() {
      await writing;
      const known = await names.all();
      const found: Meeting[] = [];
      for (const file of await auditFiles(dataDir))
        found.push(...meetingsIn(await readFile(file, 'utf8'), known));
      return found;
    },
    forget: names.forget,
    settled: async () => writing,
    verify: async () => (await check()).report,
    async exportTo(to) {
      await knownKey();
      const { report, ...from } = await check();
      return exportAudit(to, { ...from, names, problems: report.problems, now: clock.now() });
    },
    publicKey: async () => publicKeyOf((await knownKey()).key),
    async prune(before) {
      const old = expiredFiles(await auditFiles(dataDir), before);
      if (old.length === 0) return;
      const { chain: name, base, report } = await check();
      await pruneAudit(old, {
        ...{ base, report, record, names, log },
        setBase: async (gone) => void (await bases.set(name, gone)),
        files: () => auditFiles(dataDir),
      });
    },
  };
}

/**
 * Opens the key, and stores where its chain begins if it is new. That comes before the first line, so that lines without a
 * head show that the store was lost, and a copy of the store knows of lines that are copied after it.
 */
export async function beginAudit(
  dataDir: string,
  place: string,
  stored: Values,
): Promise<Readonly<{ key: Buffer; name: string; kept: Head }>> {
  const { key, chain: name } = await openAuditKey(dataDir);
  const found = await stored.get<Head>(name);
  if (found === undefined) await stored.set(name, { ...beginning, place });
  return { key, name, kept: found ?? beginning };
}

/**
 * Throws OperatorError if audit lines exist but `stored`, the store's namespace `audit`, is empty: the store was lost.
 */
export async function refuseLostStore(dataDir: string, stored: Values): Promise<void> {
  for await (const _ of stored.iterator()) return;
  const lost = await lostStore(dataDir);
  if (lost !== undefined) throw new OperatorError(lost);
}

/** After the process was killed: a sentence if the store lost more than the last moment, undefined otherwise. */
export async function lostEnd(dataDir: string, stored: Values): Promise<string | undefined> {
  const file = (await auditFiles(dataDir)).at(-1);
  if (file === undefined || !existsSync(auditKeyFile(dataDir))) return undefined;
  const { chain } = await openAuditKey(dataDir);
  const kept = await stored.get<Head>(chain);
  const ahead = (readLine((await lastLine(file)) ?? '')?.seq ?? 0) - (kept?.seq ?? 0);
  if (ahead <= mostAtOnce) return undefined;
  return `the last ${ahead} lines of its audit are not known to it, so what was stored in that time is lost`;
}

/** Where the chain ends. `day` is the date of the newest file, empty if there is none. */
type Chain = Readonly<{ key: Buffer; name: string; head: Head; day: string }>;

async function write(file: string, text: string): Promise<void> {
  const before = await stat(file).catch(() => undefined);
  try {
    await appendFile(file, text, { mode: 0o600 });
  } catch (error) {
    await truncate(file, before?.size).catch(() => undefined);
    throw error;
  }
}
