import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'smol-toml';
import { everyField, type FieldSchema } from '../../src/config/parse-config.ts';
import { valueAt } from '../../src/config/section.ts';
import { code, root, table } from './markdown.ts';

type Comments = ReadonlyMap<string, string>;

type Written = Readonly<{
  /** The comment above each section and each key, such as `models.default.model`. */
  sections: Comments;
  keys: Comments;
  /** What the file sets: the defaults (G1). */
  values: unknown;
}>;

/** Types and defaults of the schema, meanings of config.example.toml. */
export function configPage(): readonly string[] {
  const written = readExample(readFileSync(path.join(root, 'config.example.toml'), 'utf8'));
  const fields = everyField().map(([key, schema]) => ({ ...placeOf(key), schema, key }));
  const sections = [...new Set(fields.map(({ section }) => section))];
  const tables = sections.map((section) => {
    const about = commentOn(section, written.sections) ?? '';
    const rows = fields
      .filter((field) => field.section === section)
      .map(({ name, key, schema }) => {
        return [
          code(name.replace('*', 'NAME')),
          typeOf(schema),
          defaultOf(key, schema, written),
          meaningOf(key, written),
        ];
      });
    return [
      `## ${title(section)}`,
      about.replaceAll('<', '\\<'),
      table(['key', 'type', 'default', 'meaning'], rows),
    ];
  });
  return tables.flat();
}

function placeOf(key: string): Readonly<{ section: string; name: string }> {
  const at = key.lastIndexOf('.');
  return at < 0 ? { section: key, name: key } : { section: key.slice(0, at), name: key.slice(at + 1) };
}

/** `[models.NAME]`, `[[policy.rules]]` */
function title(section: string): string {
  const named = section.replaceAll('*', 'NAME');
  return named.endsWith('[]') ? `[[${named.slice(0, -2)}]]` : `[${named}]`;
}

/** Examples that are switched off count. */
function readExample(text: string): Written {
  const sections = new Map<string, string>();
  const keys = new Map<string, string>();
  let section = '';
  let above: string[] = [];
  for (const line of text.split('\n')) {
    const bare = line.replace(/^#(?=\[|[A-Za-z_]+ = )/, '');
    const [, opened] = /^\[\[?([^\]]+)\]/.exec(bare) ?? [];
    const [, key] = /^(?:# or: )?([A-Za-z_]+) = /.exec(bare) ?? [];
    if (opened === undefined && key === undefined && bare.startsWith('# ')) {
      above.push(bare.slice(2));
      continue;
    }
    if (opened !== undefined) section = opened.replaceAll('"', '');
    const comments = opened === undefined ? keys : sections;
    const place = opened === undefined ? `${section}.${key ?? ''}` : section;
    if (above.length > 0 && !comments.has(place)) comments.set(place, above.join(' '));
    above = [];
  }
  return { sections, keys, values: parse(text) };
}

/** That of the key, else of the first key of the same name below the same section: `access.telegram.users`, `access.users`. */
function meaningOf(key: string, { keys, sections }: Written): string {
  const own = commentOn(key, keys) ?? (key.endsWith('.*') ? commentOn(key, sections) : undefined);
  if (own !== undefined) return own;
  const { name } = placeOf(key);
  const [top = ''] = key.split(/[.[]/);
  const inherited = [...keys].find(
    ([place]) => place.startsWith(`${top}.`) && place.endsWith(`.${name}`),
  )?.[1];
  if (inherited === undefined) throw new Error(`config.example.toml says nothing about ${key}`);
  return inherited;
}

function commentOn(key: string, comments: Comments): string | undefined {
  const pattern = key.replaceAll('[]', '').split('.').map(escaped).join('\\.');
  return [...comments].find(([place]) => new RegExp(`^${pattern}$`).test(place))?.[1];
}

function escaped(part: string): string {
  return part === '*' ? '[^.]+(?::[^.]+)?' : part;
}

function typeOf({ type, enum: choices, anyOf, items, minimum, maximum = whole }: FieldSchema): string {
  if (choices !== undefined) return choices.map((choice) => code(JSON.stringify(choice))).join(', ');
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (type === 'array') return `list of ${isId(items) ? 'ids' : items ? plural(typeOf(items)) : 'values'}`;
  if (type === 'integer' || type === 'number') return `number${boundsOf(minimum, maximum)}`;
  return names[type ?? ''] ?? 'table';
}

const whole = Number.MAX_SAFE_INTEGER;
const names: Readonly<Record<string, string>> = { string: 'text', boolean: '`true`, `false`' };

/** Telegram's numbers may be written without quotes. */
function isId(items: FieldSchema | undefined): boolean {
  return items?.anyOf?.map(({ type }) => type).join() === 'string,integer';
}

function plural(type: string): string {
  return type === 'text' ? 'texts' : type;
}

function boundsOf(minimum: number | undefined, maximum: number): string {
  if (minimum === undefined || minimum < -whole + 1) return '';
  return maximum === whole ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`;
}

function defaultOf(key: string, schema: FieldSchema, { values }: Written): string {
  const value = valueAt(values, key.split('.')) ?? schema.default;
  return value === undefined ? '' : code(JSON.stringify(value).replaceAll('","', '", "'));
}
