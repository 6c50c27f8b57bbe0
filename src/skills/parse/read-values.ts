import { chatTypes, type ChatType } from '../../core/conversation.ts';

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

/** Keys that grant or restrict something: an invalid value keeps the skill from loading (F8). */
export const accessFields: ReadonlySet<string> = new Set([
  'sensitive',
  'access',
  'allowed_tools',
  'env',
  'packages',
  'capabilities',
  'network',
  'opt_in',
  'user_invocable',
  'disable_model_invocation',
]);

/** Keys of F6, in snake case; anything else is kept as it is. */
export const knownFields: ReadonlySet<string> = new Set([
  ...['name', 'description', 'license', 'compatibility', 'metadata', 'version', 'tags', 'author', 'authors'],
  ...['rationale', 'allowed_tools', 'env', 'packages', 'capabilities', 'sensitive', 'access', 'model'],
  ...['max_iterations', 'timeout_seconds', 'network', 'context', 'background', 'agent'],
  ...['disable_model_invocation', 'user_invocable', 'argument_hint', 'opt_in'],
]);

/** Whether a line of front matter, wherever it is, begins with a key that grants or restricts something (F8). */
export function isAccessLine(line: string): boolean {
  const [, key = ''] = /^\s*(?:-\s+)?["']?([A-Za-z_-]+)["']?[ \t]*:/.exec(line) ?? [];
  return accessFields.has(key.replaceAll('-', '_'));
}

/** Other words for a chat type that config and front matter may use (A1). */
const chatTypeWords: ReadonlyMap<string, ChatType> = new Map([
  ...chatTypes.map((type) => [type, type] as const),
  ['dm', 'private'],
  ['im', 'private'],
  ['mpim', 'group'],
  ['supergroup', 'group'],
]);

/** `access`: a map with nothing but `chat_types`; anything unknown is an error, so that a slip never opens a door (F6). An empty list is the same as none. */
export function readChatTypes(value: FrontValue): Read<readonly ChatType[] | undefined> {
  if (value.kind !== 'map')
    return { ok: false, message: `found ${kindOf(value)}; write "chat_types:" below it` };
  const unknown = [...value.entries.keys()].find((key) => key.replaceAll('-', '_') !== 'chat_types');
  if (unknown !== undefined)
    return { ok: false, message: `found the key "${unknown}"; only chat_types is known` };
  if (value.entries.size > 1) return { ok: false, message: 'chat_types is given twice' };
  const [written] = value.entries.values();
  if (written === undefined) return { ok: true, value: undefined };
  const list = readList(written, /[\s,]+/);
  if (!list.ok) return list;
  const types = new Set<ChatType>();
  for (const word of list.value) {
    const type = chatTypeWords.get(word.toLowerCase());
    if (type === undefined)
      return { ok: false, message: `found ${JSON.stringify(word)}; chat types are ${chatTypes.join(', ')}` };
    types.add(type);
  }
  if (types.size > 0) return { ok: true, value: [...types] };
  if (written.kind === 'list' && written.items.length === 0) return { ok: true, value: undefined };
  return { ok: false, message: `chat_types holds nothing; chat types are ${chatTypes.join(', ')}` };
}

/** `allowed_tools`: a list or a text. An empty list stays empty; blanks only is an error, since it would lift the ceiling (F8, T5). */
export function readTools(value: FrontValue): Read<readonly string[]> {
  const list: Read<readonly string[]> =
    value.kind === 'text' ? { ok: true, value: splitTools(value.text) } : readList(value);
  if (!list.ok || list.value.length > 0) return list;
  if (value.kind === 'list' && value.items.length === 0) return list;
  return { ok: false, message: 'holds only blanks; name tools, or leave the key out' };
}

/** Readers of what a skill is given, each strict about form: a bad name is an error (F6). */
export const readGrant = {
  env: (value: FrontValue) => readNames(value, /^[A-Z_][A-Z0-9_]*$/, 'API_KEY'),
  packages: (value: FrontValue) => readNames(value, /^[a-z0-9][a-z0-9+.-]+$/, 'jq'),
  capabilities: (value: FrontValue) => readNames(value, /^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$/, 'notes.read'),
  network: (value: FrontValue) => readNames(value, hostPattern, 'api.example.com or *.example.com'),
} as const;

/** Host name, with `*.` before it for its subdomains. No bare `*`, no address, no port or path. */
const hostPattern =
  /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** One spelling for a key: snake case (F6). */
export function bySnakeCase(front: FrontMap): Readonly<{ fields: FrontMap; twice: readonly string[] }> {
  const fields = new Map<string, FrontValue>();
  const twice: string[] = [];
  for (const [key, value] of front) {
    const snake = key.replaceAll('-', '_');
    if (fields.has(snake)) twice.push(snake);
    fields.set(snake, value);
  }
  return { fields, twice };
}
