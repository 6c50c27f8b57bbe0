type Redact = (text: string) => string;
type NameKeys = (keys: readonly string[]) => readonly string[];

/** Redacts texts and keys of foreign data; the same value if nothing changed. Equal keys are numbered. Bytes stay. */
export function redactDeep<Value>(value: Value, redact: Redact): Value {
  return walk(value, redact, (keys) => redactedKeys(keys, redact));
}

/** For data of our own shape: keys stay. */
export function redactTexts<Value>(value: Value, redact: Redact): Value {
  return walk(value, redact, (keys) => keys);
}

function walk<Value>(value: Value, redact: Redact, nameKeys: NameKeys): Value {
  if (typeof value === 'string') return redact(value) as Value;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const clean = items.map((item) => walk(item, redact, nameKeys));
    return clean.every((item, index) => item === items[index]) ? value : (clean as Value);
  }
  const own = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(own);
  const names = nameKeys(keys);
  const clean = keys.map((key) => walk(own[key], redact, nameKeys));
  const isSame = keys.every((key, index) => names[index] === key && clean[index] === own[key]);
  return isSame ? value : (Object.fromEntries(clean.map((item, index) => [names[index], item])) as Value);
}

function redactedKeys(keys: readonly string[], redact: Redact): readonly string[] {
  const clean = keys.map(redact);
  if (clean.every((key, index) => key === keys[index])) return keys;
  const taken = new Set(keys.filter((key, index) => key === clean[index]));
  const times = new Map<string, number>();
  return clean.map((key, index) => {
    if (key === keys[index]) return key;
    let name = key;
    while (taken.has(name)) {
      const time = (times.get(key) ?? 1) + 1;
      times.set(key, time);
      name = `${key} ${time}`;
    }
    taken.add(name);
    return name;
  });
}
