/** A log as pino offers it. Above `debug` it contains no text of messages (L5). */
export type Log = Readonly<{
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}>;
