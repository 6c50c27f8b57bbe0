import { chatTypes, type ChatType } from '../../core/conversation.ts';
import {
  kindOf,
  readList,
  readNames,
  splitTools,
  type FrontMap,
  type FrontValue,
  type Read,
} from './read-values.ts';

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
