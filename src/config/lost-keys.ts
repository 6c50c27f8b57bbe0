import { parse } from 'smol-toml';

/**
 * Keys that a file had before and has no more, such as `access` or `policy.rules.1`. Any lost key counts: without a
 * limit, a rule or an allowlist people have more rights, and without an owner or token they have fewer. A file that was
 * cut within its last value has lost `its end`. Both texts are valid TOML.
 */
export function lostKeys(before: string, after: string): readonly string[] {
  const left = new Set(keysIn(parse(after)));
  const lost = keysIn(parse(before)).filter((key) => !left.has(key));
  const wasCut = after.trim() !== before.trim() && before.startsWith(after.trimEnd());
  return lost.length === 0 && wasCut ? ['its end'] : lost;
}

/**
 * Whether the loss of this key is grave: the bot then serves other people, answers with another model or goes offline.
 * Its owners get a notice.
 */
export function isGrave(key: string): boolean {
  return /^(access|models\.default|telegram\.token|slack\.(bot|app)_token|its end)$/.test(key);
}

function keysIn(value: unknown, under = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    // Values in lists come and go, so only tables in lists count as entries.
    if (Array.isArray(value) && (typeof inner !== 'object' || inner === null)) return [];
    const at = under === '' ? key : `${under}.${key}`;
    return [at, ...keysIn(inner, at)];
  });
}
