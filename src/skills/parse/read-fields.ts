import { effortLevels, type Effort } from '../../core/claude-models.ts';
import type { Diagnostic } from '../../core/codes.ts';
import { accessFields, knownFields } from './known-keys.ts';
import {
  metadataDialects,
  readChatTypes,
  readGrant,
  readBoolean,
  readCount,
  readList,
  readSource,
  readText,
  readNames,
  type FrontMap,
  type FrontValue,
  type Read,
} from './read-values.ts';
import { readRestrictions } from './read-restrictions.ts';
import type { Definition } from './skill-definition.ts';

const program = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;

const readers: Readonly<Record<'env' | 'bins' | 'pip', (value: FrontValue) => Read<readonly string[]>>> = {
  env: readGrant.env,
  bins: (value) => readNames(value, program, 'curl'),
  pip(value) {
    const list = readList(value, /[\s,]/);
    return list.ok ? { ok: true, value: list.value.flatMap((line) => distribution(line) ?? []) } : list;
  },
};

const installers: ReadonlyMap<string, readonly [start: string, key?: string]> = new Map([
  ['apt', ['apt-get install']],
  ['brew', ['brew install', 'formula']],
  ['cargo', ['cargo install', 'crate']],
  ['download', ['download', 'url']],
  ['go', ['go install', 'module']],
  ['node', ['npm install -g']],
  ['pip', ['pipx install']],
  ['uv', ['uv tool install']],
]);

/** Fields of prose, which a stray ` #` would cut without notice (F4). */
const proseFields = ['name', 'description', 'compatibility', 'rationale', 'argument_hint', 'license'];

type Fields = Omit<
  Definition,
  'name' | 'description' | 'origin' | 'path' | 'directory' | 'root' | 'flat' | 'diagnostics'
>;

/**
 * Reads all fields; keys are in snake case. A bad value of an access field is an error; elsewhere it is a warning and
 * the default is used (F6, F8).
 */
export function readFields(fields: FrontMap, report: (diagnostic: Diagnostic) => void): Fields {
  const read = <Value>(
    field: string,
    reader: (value: FrontValue) => Read<Value>,
    value = fields.get(field),
  ): Value | undefined => {
    if (value === undefined) return undefined;
    const result = reader(value);
    if (result.ok) return result.value;
    const [level, so] = accessFields.has(field)
      ? (['error', ''] as const)
      : (['warning', ' (the default is used)'] as const);
    const message = `${field}: ${result.message}${so}`;
    report({ level, code: 'FIELD_INVALID', message, field, line: value.line });
    return undefined;
  };
  for (const diagnostic of cutProse(fields)) report(diagnostic);
  const metadata = readMetadata(fields.get('metadata'), report);
  const shown = (field: string): FrontValue | undefined => fields.get(field) ?? metadata.written.get(field);
  const listShown = (field: string): readonly string[] =>
    read(field, (value) => readList(value, /,/), shown(field)) ?? [];
  const textShown = (field: string): string | undefined => read(field, readText, shown(field)) || undefined;
  const { restrictions, isOff } = readRestrictions(fields, metadata.written, { read, report });
  const requires = readRequires(metadata.written, (message, line) =>
    report({ level: 'warning', code: 'FIELD_INVALID', message, field: 'metadata', line }),
  );
  return {
    ...optional('license', read('license', readText)),
    ...optional('compatibility', read('compatibility', readText)),
    metadata: metadata.values,
    others: readOthers(fields),
    ...optional('version', textShown('version')),
    tags: listShown('tags'),
    authors: [...new Set([...listShown('author'), ...listShown('authors')])],
    ...optional('rationale', textShown('rationale')),
    ...restrictions,
    env: [...new Set([...(read('env', readGrant.env) ?? []), ...requires.env])],
    programs: requires.programs,
    installs: requires.installs,
    python: requires.python,
    packages: read('packages', readGrant.packages) ?? [],
    capabilities: read('capabilities', readGrant.capabilities) ?? [],
    network: read('network', readGrant.network) ?? [],
    access: {
      ...optional('chatTypes', read('access', readChatTypes)),
      sensitive: read('sensitive', readBoolean) ?? false,
      optIn: (read('opt_in', readBoolean) ?? false) || isOff,
      disableModelInvocation: read('disable_model_invocation', readBoolean) ?? false,
      userInvocable: read('user_invocable', readBoolean) ?? true,
    },
    ...optional('model', read('model', readFilled)),
    ...optional('effort', read('effort', readEffort)),
    maxIterations: read('max_iterations', readCount) ?? read('max_turns', readCount) ?? 10,
    timeoutSeconds: read('timeout_seconds', readCount) ?? 300,
    context: read('context', readContext) ?? 'fork',
    background: read('background', readBoolean) ?? false,
    agent: read('agent', readFilled) ?? 'general',
    ...optional('argumentHint', read('argument_hint', readSource)),
  };
}

/** Warns of prose that a comment cuts. */
function cutProse(fields: FrontMap): readonly Diagnostic[] {
  return proseFields.flatMap((field) => {
    const value = fields.get(field);
    if (value?.kind !== 'text' || value.cutBy === undefined) return [];
    const message = `${field} ends before ${JSON.stringify(value.cutBy.slice(0, 40))}: put the text in quotes`;
    return [{ level: 'warning', code: 'COMMENT_CUTS_VALUE', message, field, line: value.line }];
  });
}

function readEffort(value: FrontValue): Read<Effort> {
  const text = value.kind === 'text' ? value.text.trim() : '';
  const effort = effortLevels.find((level) => level === text);
  return effort === undefined
    ? { ok: false, message: `write ${effortLevels.join(', ')}` }
    : { ok: true, value: effort };
}

function readContext(value: FrontValue): Read<'fork' | 'inline'> {
  const text = value.kind === 'text' ? value.text.trim() : '';
  if (text === 'fork' || text === 'inline') return { ok: true, value: text };
  return { ok: false, message: 'write fork or inline' };
}

function readFilled(value: FrontValue): Read<string> {
  const text = readText(value);
  return text.ok && text.value === '' ? { ok: false, message: 'is empty' } : text;
}

function readMetadata(
  value: FrontValue | undefined,
  report: (diagnostic: Diagnostic) => void,
): Readonly<{ values: Readonly<Record<string, string>>; written: FrontMap }> {
  if (value === undefined || (value.kind === 'text' && value.text === '')) {
    return { values: Object.freeze(nothing()), written: new Map() };
  }
  const field = 'metadata';
  const warn = (message: string, line: number): void =>
    report({ level: 'warning', code: 'FIELD_INVALID', message, field, line });
  if (value.kind !== 'map') {
    warn('metadata: write "key: value" lines below it', value.line);
    return { values: Object.freeze(nothing()), written: new Map() };
  }
  const values = nothing();
  for (const [key, entry] of value.entries) {
    if (entry.kind !== 'text' && !metadataDialects.includes(key)) {
      const message = `metadata: "${key}" is a ${entry.kind}, and is kept as text; the specification wants a text there`;
      report({ level: 'warning', code: 'METADATA_AS_TEXT', message, field, line: entry.line });
    }
    values[key] = entry.kind === 'text' ? entry.text : entry.source;
  }
  return { values: Object.freeze(values), written: value.entries };
}

function readOthers(fields: FrontMap): Readonly<Record<string, string>> {
  const others = nothing();
  for (const [key, value] of fields)
    if (!knownFields.has(key)) others[key] = value.kind === 'text' ? value.text : value.source;
  return Object.freeze(others);
}

/** An object without a prototype, for keys such as `__proto__`. */
function nothing(): Record<string, string> {
  return Object.create(null) as Record<string, string>;
}

function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): Partial<Readonly<Record<Key, Value>>> {
  return value === undefined ? {} : ({ [key]: value } as Record<Key, Value>);
}

type Requires = Readonly<{
  env: readonly string[];
  programs: readonly string[];
  installs: Readonly<Record<string, string>>;
  python: readonly string[];
}>;

/**
 * Reads `requires` and `install` of `metadata.openclaw` or `metadata` (F6). `env` counts as the field `env`, `bins` are
 * needed programs, `pip` are imported packages, and `install` says how to get programs. A list that can't be read is a
 * warning.
 */
function readRequires(metadata: FrontMap, warn: (message: string, line: number) => void): Requires {
  const needs = { env: new Set<string>(), bins: new Set<string>(), pip: new Set<string>() };
  const ways = new Map<string, string>();
  const places = metadataDialects.map(
    (dialect) => [`metadata.${dialect}`, within(metadata, dialect)] as const,
  );
  for (const [place, map] of [...places, ['metadata', metadata] as const]) {
    const requires = within(map, 'requires');
    for (const key of ['env', 'bins', 'pip'] as const) {
      const value = requires?.get(key);
      if (value === undefined) continue;
      const list = readers[key](value);
      if (!list.ok) warn(`${place}.requires.${key}: ${list.message}`, value.line);
      else for (const item of list.value) needs[key].add(item);
    }
    const install = map?.get('install');
    for (const item of install?.kind === 'list' ? install.items : []) {
      const [programs, way] = readInstall(item);
      for (const program of programs) if (way !== undefined && !ways.has(program)) ways.set(program, way);
    }
  }
  return {
    env: [...needs.env],
    programs: [...needs.bins],
    installs: Object.fromEntries(ways),
    python: [...needs.pip],
  };
}

/** The name of a package in a line such as `openpyxl>=3.1 ; python_version > "3"`. Undefined if the line has none. */
export function distribution(line: string): string | undefined {
  return /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:$|[\s[<>=!~;@#])/.exec(line)?.[1];
}

/** Reads `{kind: brew, formula: gh, bins: [gh]}`. Only plain words count, because operators see them. */
function readInstall(item: FrontValue): readonly [programs: readonly string[], way: string | undefined] {
  const map = item.kind === 'map' ? item.entries : undefined;
  const text = (key: string): string => {
    const value = map?.get(key);
    return value?.kind === 'text' && /^[\w@.:/+~-]{1,120}$/.test(value.text) ? value.text : '';
  };
  const [start, key = 'package'] = installers.get(text('kind')) ?? [];
  const what = text(key) || text('package');
  const bins = map?.get('bins');
  const list = bins === undefined ? undefined : readNames(bins, program, 'curl');
  const programs =
    list?.ok === true ? list.value : [text('bin') || what].filter((name) => program.test(name));
  return [programs, start === undefined || what === '' ? undefined : `${start} ${what}`];
}

function within(map: FrontMap | undefined, key: string): FrontMap | undefined {
  const value = map?.get(key);
  return value?.kind === 'map' ? value.entries : undefined;
}
