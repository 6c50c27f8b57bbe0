/**
 * A value of the front matter as it was written: every scalar a string (F3), maps as `Map`, so that no key can reach
 * a prototype. `line` is 1-based within the YAML text; `source` is what the author wrote for a list or map.
 */
export type FrontValue =
  | Readonly<{ kind: 'text'; text: string; line: number; cutBy?: string }>
  | Readonly<{ kind: 'list'; items: readonly FrontValue[]; source: string; flow: boolean; line: number }>
  | Readonly<{ kind: 'map'; entries: FrontMap; source: string; flow: boolean; line: number }>;

/** Keys in the order they were written. */
export type FrontMap = ReadonlyMap<string, FrontValue>;

/** Why YAML could not be read: `line` is 1-based within the YAML text. */
export type FrontProblem = Readonly<{ code: string; message: string; line: number }>;

export type FrontResult =
  Readonly<{ ok: true; front: FrontMap }> | Readonly<{ ok: false; problem: FrontProblem }>;

/** What kind of value was found, in words for a message. */
export function kindOf(value: FrontValue): string {
  return value.kind === 'text' ? `the text ${JSON.stringify(shorten(value.text))}` : `a ${value.kind}`;
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
