import { placeInFile, writtenInFile } from '../config/config-problem.ts';
import { formatKeyPath, type KeyPath } from '../config/section.ts';
import type { Say } from '../core/texts/say.ts';

/** A decision, the rule behind it, and what would change it. */
export type Ruling = Readonly<{
  allowed: boolean;
  /** The error code of a denial; undefined if allowed. */
  code?: string;
  reason: string;
  rule?: Rule;
  change?: string;
}>;

export type Rule = Readonly<{
  /** The key that decided, such as `access.users`, or in words what else did. */
  name: string;
  path?: string;
  /** Line in the config; undefined if the key has its default. */
  line?: number;
}>;

/** Names a rule with its place, such as `access.users (/srv/bot/config.toml:7)`. */
export function ruleName({ name, path, line }: Rule): string {
  const place = line === undefined ? path : `${path ?? ''}:${line}`;
  return place === undefined ? name : `${name} (${place})`;
}

/** Returns the rule of a key: where it is written in the config, or that it has its default. */
export function createRuleAt(file: string | undefined, say: Say): (key: KeyPath) => Rule {
  const placeOf = placeInFile(file);
  const isWritten = writtenInFile(file);
  return (key) => {
    const name = formatKeyPath(key);
    return isWritten(key) ? { name, path: file, line: placeOf(key)?.line } : { name: say`${name} (default)` };
  };
}
