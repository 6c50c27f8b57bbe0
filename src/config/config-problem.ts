import { formatKeyPath, type KeyPath } from './key-path.ts';
import type { Place } from './locate-keys.ts';

/** Something wrong with the config file (G2). `message` is one sentence with the fix and never holds a secret. */
export type ConfigProblem = Readonly<{
  file?: string;
  /** 1-based. */
  line?: number;
  column?: number;
  /** As an operator writes it: `telegram.mode`. */
  key?: string;
  /** What stands there, shortened; of a secret only its kind. */
  found?: string;
  message: string;
}>;

/** `config.toml:12:3: telegram.mode is "pull": write "polling" or "webhook".` */
export function formatConfigProblem({ file, line, column, message }: ConfigProblem): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return place === '' ? message : `${place}: ${message}`;
}

/** A word such as somebody mistypes for one of a few, and no credential. */
const plainWord = /^[a-z]{0,12}$/i;

/**
 * What stands somewhere, safe to print (S12). Text is shown only where one of a few words belongs and it could be such a word:
 * anywhere else it may be a credential, or an address that holds one.
 */
export function describeFound(value: unknown, isSecret: boolean, isChoice = false): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return 'a date';
  if (typeof value === 'object') return 'a table';
  if (typeof value === 'string') {
    if (isSecret) return 'text that is not shown';
    if (value === '' || (isChoice && plainWord.test(value))) return JSON.stringify(value);
    return `text of ${value.length} characters`;
  }
  if (isSecret) return typeof value === 'boolean' ? 'true or false' : 'a number';
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'of no known kind';
}

/** A problem about one key: `KEY is FOUND: WRITE.` */
export function keyProblem(
  where: Readonly<{ file?: string | undefined; place: Place | undefined; path: KeyPath }>,
  found: string,
  write: string,
): ConfigProblem {
  const key = formatKeyPath(where.path);
  return {
    ...(where.file === undefined ? {} : { file: where.file }),
    ...where.place,
    key,
    found,
    message: `${key} is ${found}: ${write}.`,
  };
}
