/** Plain data with every text in it redacted, keys aside; the very same value where nothing was. Bytes are left as they are. */
export function redactDeep<Value>(value: Value, redact: (text: string) => string): Value {
  if (typeof value === 'string') return redact(value) as Value;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const clean = items.map((item) => redactDeep(item, redact));
    return clean.every((item, index) => item === items[index]) ? value : (clean as Value);
  }
  let changed = false;
  const entries = Object.entries(value).map(([key, item]: [string, unknown]) => {
    const clean = redactDeep(item, redact);
    changed ||= clean !== item;
    return [key, clean] as const;
  });
  return changed ? (Object.fromEntries(entries) as Value) : value;
}
