/** A value that must not leave, and the name that stands in its place. */
export type Secret = Readonly<{ name: string; value: string }>;

/** Shorter values are left alone: they would redact ordinary words (U3). */
export const shortestSecret = 8;

/**
 * Replaces every secret of 8 characters or more by `[redacted NAME]`: as it is, and in base64 (also inside a longer
 * encoded text), hex, URL- and JSON-escaped form (U3). The net, not the wall.
 */
export function createRedactor(secrets: readonly Secret[]): (text: string) => string {
  const names = new Map<string, string>();
  for (const { name, value } of secrets) {
    if (value.length < shortestSecret) continue;
    for (const form of formsOf(value)) if (!names.has(form)) names.set(form, name);
  }
  if (names.size === 0) return (text) => text;
  const longestFirst = [...names.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(RegExp.escape).join('|'), 'g');
  return (text) => text.replace(pattern, (found) => `[redacted ${names.get(found) ?? 'secret'}]`);
}

function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const encoded = encodeURIComponent(value);
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encoded,
    encoded.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()),
    encoded.replaceAll('%20', '+'),
    hex,
    hex.toUpperCase(),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
  ].filter((form) => form.length >= shortestSecret);
}

/** The characters that only the value decides when it begins `offset` bytes into a group of three. */
function base64At(bytes: Buffer, offset: number): readonly string[] {
  const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
  const whole = Math.floor((shifted.length * 8) / 6);
  const forms = (['base64', 'base64url'] as const).map((form) =>
    shifted.toString(form).slice(Math.ceil((offset * 8) / 6), whole),
  );
  return [...new Set(forms)];
}
