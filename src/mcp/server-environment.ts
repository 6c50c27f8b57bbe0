type Environment = Readonly<Record<string, string | undefined>>;

/** What a program needs to run at all; no secret of this bot is among it. */
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
  // The same for Windows.
  'APPDATA',
  'LOCALAPPDATA',
  'PATHEXT',
  'SYSTEMROOT',
  'TEMP',
  'USERPROFILE',
]);

/** The environment of an MCP server's process: what config gives it, and of this process the few names that programs need (X7). */
export function serverEnvironment(
  own: Environment,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(own).filter(
    (entry): entry is [string, string] => taken.has(entry[0].toUpperCase()) && entry[1] !== undefined,
  );
  return { ...Object.fromEntries(kept), ...given };
}
