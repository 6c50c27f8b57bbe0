import pg from 'pg';

/**
 * Something the database refused, or that it could not be reached. The driver's own error is not kept as a cause: it
 * quotes rows (messages of people) and names host and user of the connection (S3, L5).
 */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  /** SQLSTATE, or the system's code of a failed connection. */
  readonly code: string | undefined;
  /** The server answered and did not hang up: the connection can go on. */
  readonly connected: boolean;

  constructor(message: string, more: { code: string | undefined; connected: boolean }) {
    super(message);
    this.code = more.code;
    this.connected = more.connected;
  }
}

/** An error of the driver as one that may be logged. */
export function toFault(error: unknown): DatabaseFault {
  const said = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  if (error instanceof pg.DatabaseError) {
    const connected = !/^(08|57P|XX)/.test(code ?? '');
    return new DatabaseFault(`The database refused: ${said} (${code ?? 'no code'})`, { code, connected });
  }
  // A code stands for a message that may name the host; what the driver says itself names nothing.
  const what = code ?? said;
  return new DatabaseFault(`The database could not be reached: ${what}`, { code, connected: false });
}
