/**
 * Where data holds something that looks like a credential, as a path such as `items.0.access_token`; nothing where it holds
 * none (C5). What is there is not told.
 */
export function findCredential(data: unknown, path: readonly string[] = []): string | undefined {
  if (typeof data === 'string') return values.test(data) ? path.join('.') || 'the answer' : undefined;
  if (typeof data !== 'object' || data === null) return undefined;
  for (const [key, value] of Object.entries(data as Readonly<Record<string, unknown>>)) {
    const here = [...path, key];
    const word = key.toLowerCase().replace(/[^a-z0-9]/g, '');
    if (keys.test(word) && isFilled(value)) return here.join('.');
    const within = findCredential(value, here) ?? (values.test(key) ? path.join('.') || 'a key' : undefined);
    if (within !== undefined) return within;
  }
  return undefined;
}

/** Keys whose text is a credential, whatever it looks like. Page and sync tokens are none. */
const keys =
  /^(?:token|secret|password|passwd|passphrase|authorization|cookie|credentials?|jwt|bearer)$|(?:access|refresh|id|auth|oauth|bearer|session|security|api)tokens?$|(?:client|api|app|shared|consumer)secret$|(?:api|private|secret|access|signing|encryption)key$|^setcookie$|^sessionid$|^(?:auth|authorization)code$|^codeverifier$|(?:user|account|db)password$/;

/** Values that are credentials under any key, or within a text. */
const values =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|(?<=\beyJ[\w-]{8,})\.eyJ[\w-]{8,}\.[\w-]{8,}|\b[Bb]earer +[\w.~+/-]{20,}=*|\bya29\.[\w-]{20,}|\b1\/\/0[\w-]{20,}|\bgh[pousr]_\w{30,}|\bgithub_pat_\w{30,}|\bglpat-[\w-]{20,}|\bxox[abeoprs]-[\w-]{10,}|\bxapp-[\w-]{20,}|\bsk-(?:ant-)?[\w-]{20,}|\bA(?:KIA|SIA)[0-9A-Z]{16}\b|\bAIza[\w-]{35}|\b\d{8,10}:AA[\w-]{33}/;

/** `has_password: true` and `token: null` say nothing; text, numbers and what holds some do. */
function isFilled(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  if (typeof value === 'number') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(isFilled);
}
