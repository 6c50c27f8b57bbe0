import type { FrontMap, FrontValue } from './front-value.ts';
import { readGrant } from './read-access.ts';
import { readList, readNames, type Read } from './read-values.ts';

/** What a skill says it needs in the dialect of another program. */
export type Requires = Readonly<{
  env: readonly string[];
  programs: readonly string[];
  /** How a program is installed, by its name. */
  installs: Readonly<Record<string, string>>;
  /** Packages of PyPI. */
  python: readonly string[];
}>;

/** Keys of `metadata` under which OpenClaw reads what is its own; the last two are its older names. */
export const dialects: readonly string[] = ['openclaw', 'clawdbot', 'moltbot'];

/**
 * `requires` and `install` of `metadata.openclaw`, or of `metadata` itself (F6): `env` counts like the field `env`, `bins` are
 * programs that have to be there, `pip` packages that scripts import; `install` says how to get programs. A list that
 * can't be read is told and stands for nothing; all else of a dialect has no meaning here.
 */
export function readRequires(metadata: FrontMap, warn: (message: string, line: number) => void): Requires {
  const needs = { env: new Set<string>(), bins: new Set<string>(), pip: new Set<string>() };
  const ways = new Map<string, string>();
  const places = dialects.map((dialect) => [`metadata.${dialect}`, within(metadata, dialect)] as const);
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

const program = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;

const readers: Readonly<Record<'env' | 'bins' | 'pip', (value: FrontValue) => Read<readonly string[]>>> = {
  env: readGrant.env,
  bins: (value) => readNames(value, program, 'curl'),
  pip(value) {
    const list = readList(value, /[\s,]+/);
    return list.ok ? { ok: true, value: list.value.flatMap((line) => distribution(line) ?? []) } : list;
  },
};

/** The name in a line of requirements: `openpyxl>=3.1 ; python_version > "3"`. */
export function distribution(line: string): string | undefined {
  return /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:$|[\s[<>=!~;@#])/.exec(line)?.[1];
}

/** Programs, and the command that brings them: `{kind: brew, formula: gh, bins: [gh]}`. Its words are shown to the operator, so only plain ones count. */
function readInstall(item: FrontValue): readonly [programs: readonly string[], way: string | undefined] {
  const map = item.kind === 'map' ? item.entries : undefined;
  const text = (key: string): string => {
    const value = map?.get(key);
    return value?.kind === 'text' && /^[\w@.:/+~-]{1,120}$/.test(value.text) ? value.text : '';
  };
  const [start, key] = installers.get(text('kind')) ?? [];
  const what = key === undefined ? '' : text(key) || text('package');
  const bins = map?.get('bins');
  const list = bins === undefined ? undefined : readNames(bins, program, 'curl');
  const programs =
    list?.ok === true ? list.value : [text('bin') || what].filter((name) => program.test(name));
  return [programs, start === undefined || what === '' ? undefined : `${start} ${what}`];
}

const installers: ReadonlyMap<string, readonly [start: string, key: string]> = new Map([
  ['apt', ['apt-get install', 'package']],
  ['brew', ['brew install', 'formula']],
  ['cargo', ['cargo install', 'crate']],
  ['download', ['download', 'url']],
  ['go', ['go install', 'module']],
  ['node', ['npm install -g', 'package']],
  ['pip', ['pipx install', 'package']],
  ['uv', ['uv tool install', 'package']],
]);

function within(map: FrontMap | undefined, key: string): FrontMap | undefined {
  const value = map?.get(key);
  return value?.kind === 'map' ? value.entries : undefined;
}
