import { chatTypes, type ChatType } from '../../core/conversation.ts';
import { accessFields, keyName } from './known-keys.ts';

export type Read<Value> = Readonly<{ ok: true; value: Value }> | Readonly<{ ok: false; message: string }>;

const yes = ['true', 'yes', '1'];
const no = ['false', 'no', '0'];

/** Reads `true false yes no 1 0`, in any case, quoted or not (F3). */
export function readBoolean(value: FrontValue): Read<boolean> {
  const word = value.kind === 'text' ? value.text.trim().toLowerCase() : '';
  if (yes.includes(word)) return { ok: true, value: true };
  if (no.includes(word)) return { ok: true, value: false };
  return { ok: false, message: `found ${kindOf(value)}; write true or false` };
}

/** Reads a whole number of at least 1, quoted or not (F3). */
export function readCount(value: FrontValue): Read<number> {
  const text = value.kind === 'text' ? value.text.trim() : '';
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number >= 1) return { ok: true, value: number };
  return { ok: false, message: `found ${kindOf(value)}; write a whole number of at least 1` };
}

export function readText(value: FrontValue): Read<string> {
  if (value.kind === 'text') return { ok: true, value: value.text.trim() };
  return { ok: false, message: `found ${kindOf(value)}; write a text` };
}

/** Reads a text. A flow list or map counts by its source, because an unquoted `[a]` is the text `[a]` (F8). */
export function readSource(value: FrontValue): Read<string> {
  return value.kind !== 'text' && value.flow ? { ok: true, value: value.source } : readText(value);
}

/** Reads a list, or a text that is cut by `split`. Blank items are dropped (F8). */
export function readList(value: FrontValue, split: RegExp = /(?!)/): Read<readonly string[]> {
  if (value.kind === 'map') return { ok: false, message: `found a map; write a list of texts` };
  if (value.kind === 'text') return { ok: true, value: keepFilled(value.text.split(split)) };
  const texts: string[] = [];
  for (const [index, item] of value.items.entries()) {
    if (item.kind !== 'text')
      return { ok: false, message: `item ${index + 1} is ${kindOf(item)}; write a list of texts` };
    texts.push(item.text);
  }
  return { ok: true, value: keepFilled(texts) };
}

export function readNames(value: FrontValue, form: RegExp, example: string): Read<readonly string[]> {
  const list = readList(value, /[\s,]/);
  if (!list.ok) return list;
  const wrong = list.value.find((item) => !form.test(item));
  if (wrong === undefined) return { ok: true, value: [...new Set(list.value)] };
  return { ok: false, message: `found ${JSON.stringify(wrong)}; write names like ${example}` };
}

/** Splits on spaces and commas outside of parentheses: `Bash(git:*, gh:*) Read` has two items (F6). */
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
 * A value of front matter. Scalars are strings (F3), and maps are `Map`, so that no key reaches a prototype. `line` is
 * counted from 1 in the YAML; `source` is the text as written.
 */
export type FrontValue =
  | Readonly<{ kind: 'text'; text: string; line: number; cutBy?: string }>
  | Readonly<{ kind: 'list'; items: readonly FrontValue[]; source: string; flow: boolean; line: number }>
  | Readonly<{ kind: 'map'; entries: FrontMap; source: string; flow: boolean; line: number }>;

/** Keys in the order in which they were written. */
export type FrontMap = ReadonlyMap<string, FrontValue>;

/** A problem of front matter. `line` is counted from 1 in the YAML. */
export type FrontProblem = Readonly<{ code: string; message: string; line: number }>;

export type FrontResult =
  Readonly<{ ok: true; front: FrontMap }> | Readonly<{ ok: false; problem: FrontProblem }>;

export function kindOf(value: FrontValue): string {
  return value.kind === 'text' ? `the text ${JSON.stringify(shorten(value.text))}` : `a ${value.kind}`;
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}

/** Keys of OpenClaw in `metadata`; the last two are older names. */
export const metadataDialects: readonly string[] = ['openclaw', 'clawdbot', 'moltbot'];

/** Whether a line begins with an access key (F8). */
export function isAccessLine(line: string): boolean {
  const [, key = ''] = /^\s*(?:-\s+)?["']?([A-Za-z_-]+)["']?[ \t]*:/.exec(line) ?? [];
  return accessFields.has(keyName(key));
}

const chatTypeWords: ReadonlyMap<string, ChatType> = new Map([
  ...chatTypes.map((type) => [type, type] as const),
  ['dm', 'private'],
  ['im', 'private'],
  ['mpim', 'group'],
  ['supergroup', 'group'],
]);

/**
 * Reads a map that has only `chat_types`. Other keys are errors, so that a slip never grants access (F6). An empty list
 * counts as none, which is undefined.
 */
export function readChatTypes(value: FrontValue): Read<readonly ChatType[] | undefined> {
  if (value.kind !== 'map')
    return { ok: false, message: `found ${kindOf(value)}; write "chat_types:" below it` };
  const unknown = [...value.entries.keys()].find((key) => key.replaceAll('-', '_') !== 'chat_types');
  if (unknown !== undefined)
    return { ok: false, message: `found the key "${unknown}"; only chat_types is known` };
  if (value.entries.size > 1) return { ok: false, message: 'chat_types is given twice' };
  const [written] = value.entries.values();
  if (written === undefined) return { ok: true, value: undefined };
  const list = readList(written, /[\s,]/);
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

/**
 * Reads a list or text of tools. Nothing, as in `allowed_tools:`, is an empty list. Only blanks are an error, because
 * they would remove the restriction (F8, T5).
 */
export function readTools(value: FrontValue): Read<readonly string[]> {
  const list: Read<readonly string[]> =
    value.kind === 'text' ? { ok: true, value: splitTools(value.text) } : readList(value);
  if (value.kind === 'text' && /^(?:|~|null)$/.test(value.text.trim())) return { ok: true, value: [] };
  if (!list.ok || list.value.length > 0) return list;
  if (value.kind === 'list' && value.items.length === 0) return list;
  return { ok: false, message: 'holds only blanks; name tools, or leave the key out' };
}

/** Reads lists of grants. A bad name is an error (F6). */
export const readGrant = {
  env: (value: FrontValue) => readNames(value, /^[A-Z_][A-Z0-9_]*$/, 'API_KEY'),
  packages: (value: FrontValue) => readNames(value, /^[a-z0-9][a-z0-9+.-]+$/, 'jq'),
  capabilities: (value: FrontValue) => readNames(value, /^[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*$/, 'notes.read'),
  network: (value: FrontValue) => readNames(value, hostPattern, 'api.example.com or *.example.com'),
} as const;

/** A host name. `*.` means its subdomains; a bare `*`, addresses, ports and paths do not match. */
const hostPattern =
  /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Gives each key one spelling, in snake case (F6, F11). `twice` lists keys that occur in both spellings. */
export function bySnakeCase(front: FrontMap): Readonly<{ fields: FrontMap; twice: readonly string[] }> {
  const fields = new Map<string, FrontValue>();
  const twice: string[] = [];
  for (const [key, value] of front) {
    const snake = keyName(key);
    if (fields.has(snake)) twice.push(snake);
    fields.set(snake, value);
  }
  return { fields, twice };
}
