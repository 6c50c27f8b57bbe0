/** Fits pino. No message text above `debug` (L5). */
export type Log = Readonly<{
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}>;
