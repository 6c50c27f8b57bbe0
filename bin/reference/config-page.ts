import { everyField, type FieldSchema } from '../../src/config/parse-config.ts';
import {
  aboutSection,
  defaultIn,
  meaningOf,
  placeOf,
  readExampleConfig,
  type ExampleConfig,
} from './example-config.ts';
import { code, table } from './markdown.ts';

/** Types and defaults of the schema, meanings of config.example.toml. */
export function configPage(): readonly string[] {
  const written = readExampleConfig();
  const fields = everyField().map(([key, schema]) => ({ ...placeOf(key), schema, key }));
  const sections = [...new Set(fields.map(({ section }) => section))];
  const tables = sections.map((section) => {
    const about = aboutSection(section, written);
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

/** `[models.NAME]`, `[[policy.rules]]` */
function title(section: string): string {
  const named = section.replaceAll('*', 'NAME');
  return named.endsWith('[]') ? `[[${named.slice(0, -2)}]]` : `[${named}]`;
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

function defaultOf(key: string, schema: FieldSchema, written: ExampleConfig): string {
  const value = defaultIn(key, written) ?? schema.default;
  return value === undefined ? '' : code(JSON.stringify(value).replaceAll('","', '", "'));
}
