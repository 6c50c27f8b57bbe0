/** A value read from the front matter, or what is wrong with it and what to write. */
export type Read<Value> = Readonly<{ ok: true; value: Value }> | Readonly<{ ok: false; message: string }>;

const yes = ['true', 'yes', '1'];
const no = ['false', 'no', '0'];

/** `true false yes no 1 0`, in any case, quoted or not (F3). */
export function readBoolean(value: FrontValue): Read<boolean> {
  const word = value.kind === 'text' ? value.text.trim().toLowerCase() : '';
  if (yes.includes(word)) return { ok: true, value: true };
  if (no.includes(word)) return { ok: true, value: false };
  return { ok: false, message: `found ${kindOf(value)}; write true or false` };
}

/** An integer of at least 1, quoted or not (F3). */
export function readCount(value: FrontValue): Read<number> {
  const text = value.kind === 'text' ? value.text.trim() : '';
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number >= 1) return { ok: true, value: number };
  return { ok: false, message: `found ${kindOf(value)}; write a whole number of at least 1` };
}

/** Text on one line or several, trimmed. */
export function readText(value: FrontValue): Read<string> {
  if (value.kind === 'text') return { ok: true, value: value.text.trim() };
  return { ok: false, message: `found ${kindOf(value)}; write a text` };
}

/** Text, or the source of a flow list or map: unquoted `[a]` is the text `[a]` (F8). */
export function readSource(value: FrontValue): Read<string> {
  return value.kind !== 'text' && value.flow ? { ok: true, value: value.source } : readText(value);
}

/** A list of texts, or a text that `split` cuts into items; blank items are dropped (F8). */
export function readList(value: FrontValue, split: RegExp = /(?!)/): Read<readonly string[]> {
  if (value.kind === 'map') return { ok: false, message: `found a map; write a list of texts` };
  if (value.kind === 'text') return { ok: true, value: keepFilled(value.text.split(split)) };
  const texts = value.items.map((item) => (item.kind === 'text' ? item.text : undefined));
  const wrong = texts.indexOf(undefined);
  const item = value.items[wrong];
  if (item !== undefined)
    return { ok: false, message: `item ${wrong + 1} is ${kindOf(item)}; write a list of texts` };
  return { ok: true, value: keepFilled(texts.filter((text) => text !== undefined)) };
}

/** A list like `readList`, each item of a fixed form. */
export function readNames(value: FrontValue, form: RegExp, example: string): Read<readonly string[]> {
  const list = readList(value, /[\s,]+/);
  if (!list.ok) return list;
  const wrong = list.value.find((item) => !form.test(item));
  if (wrong === undefined) return { ok: true, value: [...new Set(list.value)] };
  return { ok: false, message: `found ${JSON.stringify(wrong)}; write names like ${example}` };
}

/** A text split on spaces and commas outside parentheses: `Bash(git:*, gh:*) Read` has two items (F6). */
export function splitTools(text: string): readonly string[] {
  const items: string[] = [];
  let depth = 0;
  let item = '';
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,]/.test(character)) {
      items.push(item);
      item = '';
    } else item += character;
  }
  return keepFilled([...items, item]);
}

function keepFilled(items: readonly string[]): readonly string[] {
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

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
