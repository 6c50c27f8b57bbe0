import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'smol-toml';
import { valueAt } from '../../src/config/section.ts';
import { root } from './markdown.ts';

type ByPlace<Value> = ReadonlyMap<string, Value>;

/** What config.example.toml says of the keys, for the page of the reference and for the schema that editors read. */
export type ExampleConfig = Readonly<{
  /** The comment above each section and each key, such as `models.default.model`. */
  sections: ByPlace<string>;
  keys: ByPlace<string>;
  /** Values of lines that are switched off. */
  examples: ByPlace<readonly unknown[]>;
  /** What the file sets: the defaults (G1). */
  values: unknown;
}>;

/** The section and the name of a key: `models.*` and `model` of `models.*.model`. */
export function placeOf(key: string): Readonly<{ section: string; name: string }> {
  const at = key.lastIndexOf('.');
  return at < 0 ? { section: key, name: key } : { section: key.slice(0, at), name: key.slice(at + 1) };
}

/** Comments of examples that are switched off count, too. */
export function readExampleConfig(): ExampleConfig {
  const text = readFileSync(path.join(root, 'config.example.toml'), 'utf8');
  const sections = new Map<string, string>();
  const keys = new Map<string, string>();
  const examples = new Map<string, readonly unknown[]>();
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
    const example = opened === undefined && line.startsWith('#') ? exampleIn(bare) : undefined;
    if (example !== undefined) examples.set(place, [...(examples.get(place) ?? []), example]);
  }
  return { sections, keys, examples, values: parse(text) };
}

/** Undefined if the line is none of its own, such as the first one of a long list. */
function exampleIn(line: string): unknown {
  try {
    return Object.values(parse(line.replace(/^# or: /, '')))[0];
  } catch {
    return undefined;
  }
}

/** The comment above a section; empty if there is none. */
export function aboutSection(section: string, { sections }: ExampleConfig): string {
  return atPlace(section, sections) ?? '';
}

/** That of the key, else of the first key of the same name below the same section: `access.telegram.users`, `access.users`. */
export function meaningOf(key: string, { keys, sections }: ExampleConfig): string {
  const own = atPlace(key, keys) ?? (key.endsWith('.*') ? atPlace(key, sections) : undefined);
  if (own !== undefined) return own;
  const inherited = ofSameName(key, keys);
  if (inherited === undefined) throw new Error(`config.example.toml says nothing about ${key}`);
  return inherited;
}

/** Values to start from; empty where the file has none. */
export function examplesOf(key: string, { examples }: ExampleConfig): readonly unknown[] {
  return atPlace(key, examples) ?? ofSameName(key, examples) ?? [];
}

/** What the file sets. Undefined if it sets nothing there. */
export function defaultIn(key: string, { values }: ExampleConfig): unknown {
  return valueAt(values, key.split('.'));
}

function ofSameName<Value>(key: string, of: ByPlace<Value>): Value | undefined {
  const { name } = placeOf(key);
  const [top = ''] = key.split(/[.[]/);
  return [...of].find(([place]) => place.startsWith(`${top}.`) && place.endsWith(`.${name}`))?.[1];
}

function atPlace<Value>(key: string, of: ByPlace<Value>): Value | undefined {
  const pattern = key.replaceAll('[]', '').split('.').map(escaped).join('\\.');
  return [...of].find(([place]) => new RegExp(`^${pattern}$`).test(place))?.[1];
}

function escaped(part: string): string {
  return part === '*' ? '[^.]+(?::[^.]+)?' : part;
}
