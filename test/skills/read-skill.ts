import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Diagnostic } from '../../src/core/codes.ts';
import { parseSkill } from '../../src/skills/parse/parse-skill.ts';
import type { ParseResult } from '../../src/skills/parse/skill-definition.ts';
import { skillText } from './make-root.ts';

type Data = Readonly<Record<string, unknown>>;

/** Problems as `LINE LEVEL CODE FIELD`. A message never shows that something was left out. */
export function problemsOf(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.map(({ level, code, field, line, message }) => {
    assert.doesNotMatch(message, /undefined|Stryker/, code);
    return [line, level, code, field].filter((part) => part !== undefined).join(' ');
  });
}

export function parseFront(front: string): ParseResult {
  const bytes = Buffer.from(skillText(`name: tool\ndescription: d\n${front}`));
  const directory = '/root/tool';
  return parseSkill({ path: `${directory}/SKILL.md`, directory, bytes, cut: false, origin: 'workspace' });
}

/**
 * What a skill has from these lines that a skill without them does not have, then the problems. Of a refused skill: what
 * D7 makes of it. The lines begin in line 4.
 */
export function readFront(front: string): readonly [has: Data | 'refused' | 'off', ...problems: string[]] {
  const result = parseFront(front);
  if (!result.ok) return [result.accessBroken ? 'off' : 'refused', ...problemsOf(result.diagnostics)];
  const plain = parseFront('');
  assert.ok(plain.ok);
  const { diagnostics, ...definition } = result.definition;
  return [changes(definition, plain.definition), ...problemsOf(diagnostics)];
}

function changes(data: Data, plain: Data): Data {
  const changed = Object.entries(data).filter(([key, value]) => !isDeepStrictEqual(value, plain[key]));
  return Object.fromEntries(
    changed.map(([key, value]) => {
      if (key === 'access') return [key, changes(value as Data, plain[key] as Data)];
      return [key, value?.constructor === undefined ? { ...(value as Data) } : value];
    }),
  );
}
