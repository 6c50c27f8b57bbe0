import { placeInFile, writtenInFile } from '../config/config-problem.ts';
import { formatKeyPath, type KeyPath } from '../config/section.ts';
import type { Say } from '../core/texts/say.ts';

/** A decision, the rule behind it, and what would change it. */
export type Ruling = Readonly<{
  allowed: boolean;
  /** Of a denial. */
  code?: string;
  reason: string;
  rule?: Rule;
  change?: string;
}>;

export type Rule = Readonly<{
  /** `access.users`, or what else decided. */
  name: string;
  path?: string;
  /** Absent: it is at its default. */
  line?: number;
}>;

/** `access.users (/srv/bot/config.toml:7)` */
export function ruleName({ name, path, line }: Rule): string {
  const place = line === undefined ? path : `${path ?? ''}:${line}`;
  return place === undefined ? name : `${name} (${place})`;
}

/** Where a key stands in the config, or that it is at its default. */
export function createRuleAt(file: string | undefined, say: Say): (key: KeyPath) => Rule {
  const placeOf = placeInFile(file);
  const isWritten = writtenInFile(file);
  return (key) => {
    const name = formatKeyPath(key);
    return isWritten(key) ? { name, path: file, line: placeOf(key)?.line } : { name: say`${name} (default)` };
  };
}
