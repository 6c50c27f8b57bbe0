import { skilletHere } from '../core/skillet-here.ts';
/** `undone`: surely nothing of the failed call was written. */
type StoreFault = Readonly<{ reason: string; undone: boolean }>;

export class StoreGone extends Error {
  override readonly name = 'StoreGone';

  constructor(file: string) {
    super(
      `${file} was removed or replaced while the bot used it. What it held is lost when the bot stops: save it first with \`${skilletHere()} backup FILE\`, then stop the bot and put that file in its place.`,
    );
  }
}

/**
 * Disk full, file or server away, locked, unreadable (Q11). Undefined for the call's own errors, which would fail on
 * a healthy database, too.
 */
export function storeFault(error: unknown): StoreFault | undefined {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    const undone = one instanceof StoreGone || (sqliteFault(one) ?? postgresFault(one));
    if (undone !== undefined) return { reason: one.message, undone };
  }
  return undefined;
}

/** The file or its pages are not what they were: it works now and then, and is never well again. */
export function isDamage(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    if ('errcode' in one && typeof one.errcode === 'number' && damageCodes.has(one.errcode & 0xff))
      return true;
    if (one.name === 'DatabaseFault' && 'code' in one && /^XX00[12]$/.test(String(one.code))) return true;
  }
  return false;
}

export const helpDamaged = (): string =>
  `Stop the bot and put a backup in its place: \`${skilletHere()} restore FILE --store-only\``;

/** CORRUPT, NOTADB. */
const damageCodes: ReadonlySet<number> = new Set([11, 26]);

/** PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOLFS, NOTADB. */
const sqliteCodes: ReadonlySet<number> = new Set([3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 22, 26]);

/** SQLite takes back a transaction that failed. */
function sqliteFault(error: Error): true | undefined {
  if (!('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  // The low byte is the primary code.
  return sqliteCodes.has(error.errcode & 0xff) ? true : undefined;
}

/** ENOENT, EACCES: a socket file. */
const neverReached = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT|EACCES)$/;
const neverSent = /timeout exceeded when trying to connect|not queryable/;
const cutOff = /^(ECONNRESET|EPIPE|ETIMEDOUT|08...)$/;
/** Resources, shutdown, system errors, read-only server, damaged data. */
const serverSays = /^(53...|57P0.|58...|25006|XX00[12])$/;

/** By our error's name: platforms fail with the same codes. */
function postgresFault(error: Error): boolean | undefined {
  if (error.name !== 'DatabaseFault') return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (neverReached.test(code) || serverSays.test(code)) return true;
  if (neverSent.test(error.message)) return true;
  if (cutOff.test(code) || /Connection terminated/.test(error.message)) return false;
  return 'connected' in error && error.connected === false ? false : undefined;
}
