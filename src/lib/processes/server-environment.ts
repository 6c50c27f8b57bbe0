type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of our environment that servers get. None of them is a secret of the bot. */
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
  // These are for Windows.
  'APPDATA',
  'LOCALAPPDATA',
  'PATHEXT',
  'SYSTEMROOT',
  'TEMP',
  'USERPROFILE',
]);

/** The environment of a server's process: the config's variables, and a few of ours that programs need (X7). */
export function serverEnvironment(
  own: Environment,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = Object.entries(own).filter(
    (entry): entry is [string, string] => taken.has(entry[0].toUpperCase()) && entry[1] !== undefined,
  );
  return { ...Object.fromEntries(kept), ...given };
}
