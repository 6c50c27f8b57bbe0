import type { FrontMap, FrontValue } from './front-value.ts';
import { readGrant } from './read-access.ts';
import { readNames, type Read } from './read-values.ts';

/** What a skill says it needs in the dialect of another program. */
export type Requires = Readonly<{ env: readonly string[]; programs: readonly string[] }>;

/** Keys of `metadata` under which OpenClaw reads what is its own; the last two are its older names. */
export const dialects: readonly string[] = ['openclaw', 'clawdbot', 'moltbot'];

/**
 * `metadata.openclaw.requires` (F6): `env` counts like the field `env`, `bins` are programs that have to be there. A list
 * that can't be read is told and stands for nothing; all else of a dialect has no meaning here.
 */
export function readRequires(metadata: FrontMap, warn: (message: string, line: number) => void): Requires {
  const needs = { env: new Set<string>(), bins: new Set<string>() };
  for (const dialect of dialects) {
    const requires = within(within(metadata, dialect), 'requires');
    for (const key of ['env', 'bins'] as const) {
      const value = requires?.get(key);
      if (value === undefined) continue;
      const list = readers[key](value);
      if (!list.ok) warn(`metadata.${dialect}.requires.${key}: ${list.message}`, value.line);
      else for (const item of list.value) needs[key].add(item);
    }
  }
  return { env: [...needs.env], programs: [...needs.bins] };
}

const readers: Readonly<Record<'env' | 'bins', (value: FrontValue) => Read<readonly string[]>>> = {
  env: readGrant.env,
  bins: (value) => readNames(value, /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/, 'curl'),
};

function within(map: FrontMap | undefined, key: string): FrontMap | undefined {
  const value = map?.get(key);
  return value?.kind === 'map' ? value.entries : undefined;
}
