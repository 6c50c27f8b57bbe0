import { parse } from 'smol-toml';

/**
 * Keys that a file held before and holds no more, such as `access` or `policy.rules.1`: of a whole edit, or of a file
 * that is half written. Any key counts, because the loss of a limit, a rule or an allowlist gives people more rights,
 * and the loss of an owner or token takes them away. A file that was cut within its last value has lost `its end`.
 * Both texts are valid TOML.
 */
export function lostKeys(before: string, after: string): readonly string[] {
  const left = new Set(keysIn(parse(after)));
  const lost = keysIn(parse(before)).filter((key) => !left.has(key));
  const wasCut = after.trim() !== before.trim() && before.startsWith(after.trimEnd());
  return lost.length === 0 && wasCut ? ['its end'] : lost;
}

/** Without these a bot serves others, answers by another model or is away: its owners hear of it. */
export function isGrave(key: string): boolean {
  return /^(access|models\.default|telegram\.token|slack\.(bot|app)_token|its end)$/.test(key);
}

function keysIn(value: unknown, under = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    // Values in lists come and go: only tables in lists are entries.
    if (Array.isArray(value) && (typeof inner !== 'object' || inner === null)) return [];
    const at = under === '' ? key : `${under}.${key}`;
    return [at, ...keysIn(inner, at)];
  });
}
