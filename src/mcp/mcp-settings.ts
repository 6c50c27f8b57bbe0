import { createHash } from 'node:crypto';
import type { Config } from '../config/complete-config.ts';

/** `[mcp.NAME]`: a server as the operator wants it. */
export type McpSettings = Config['mcp'][string];

/** Tools of one server that are taken. */
export const mostTools = 256;

/** Without secrets. If it changes, the operator agrees to the tools again (X7). */
export function identityOf({ command, args, url }: McpSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([command ?? '', args, url ?? '']))
    .digest('hex');
}

type Environment = Readonly<Record<string, string | undefined>>;

/** None of the bot's secrets. */
const taken: ReadonlySet<string> = new Set([
  'HOME',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TMPDIR',
  'TZ',
  'USER',
  // Windows.
  'APPDATA',
  'LOCALAPPDATA',
  'PATHEXT',
  'SYSTEMROOT',
  'TEMP',
  'USERPROFILE',
]);

/** Config's variables and a few of ours that programs need (X7). */
export function serverEnvironment(
  own: Environment,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(own).filter(
    (entry): entry is [string, string] => taken.has(entry[0].toUpperCase()) && entry[1] !== undefined,
  );
  return { ...Object.fromEntries(kept), ...given };
}
