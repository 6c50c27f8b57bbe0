import assert from 'node:assert/strict';

/** Compares plain data as JSON does: a member that is undefined is the same as none. */
export function equalData(actual: unknown, expected: unknown, message?: string): void {
  assert.deepEqual(withoutUndefined(actual), withoutUndefined(expected), message);
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, withoutUndefined(item)]));
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutUndefined(member)]));
}
