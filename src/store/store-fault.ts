import { skilletHere } from '../core/skillet-here.ts';
/** Why the store failed. `undone` is true if certainly nothing of the failed call was written. */
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
 * Reads an error as a failure of the store: disk full, file or server away, locked, or unreadable (Q11). Undefined for
 * errors of the call itself, which would fail on a healthy database, too.
 */
export function storeFault(error: unknown): StoreFault | undefined {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    const undone = one instanceof StoreGone || (sqliteFault(one) ?? postgresFault(one));
    if (undone !== undefined) return { reason: one.message, undone };
  }
  return undefined;
}

/** Whether the file or its pages are damaged. Such a store works now and then, but never recovers. */
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

/** SQLite's codes CORRUPT and NOTADB. */
const damageCodes: ReadonlySet<number> = new Set([11, 26]);

/** SQLite's codes PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOLFS and NOTADB. */
const sqliteCodes: ReadonlySet<number> = new Set([3, 5, 6, 7, 8, 10, 11, 13, 14, 15, 22, 26]);

/** Always `true` for a failure of the database, because SQLite rolls back a transaction that failed. */
function sqliteFault(error: Error): true | undefined {
  if (!('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  // The low byte is the primary code.
  return sqliteCodes.has(error.errcode & 0xff) ? true : undefined;
}

/** Codes of a server that was never reached. ENOENT and EACCES are those of a socket file. */
const neverReached = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT|EACCES)$/;
const neverSent = /timeout exceeded when trying to connect|not queryable/;
const cutOff = /^(ECONNRESET|EPIPE|ETIMEDOUT|08...)$/;
/** SQLSTATEs for lack of resources, shutdown, system errors, a read-only server and damaged data. */
const serverSays = /^(53...|57P0.|58...|25006|XX00[12])$/;

/** Recognizes failures by the name of our error, because platforms fail with the same codes. */
function postgresFault(error: Error): boolean | undefined {
  if (error.name !== 'DatabaseFault') return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (neverReached.test(code) || serverSays.test(code)) return true;
  if (neverSent.test(error.message)) return true;
  if (cutOff.test(code) || /Connection terminated/.test(error.message)) return false;
  return 'connected' in error && error.connected === false ? false : undefined;
}
