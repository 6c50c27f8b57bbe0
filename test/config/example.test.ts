import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'smol-toml';
import { formatConfigProblem } from '../../src/config/config-problem.ts';
import { everyKey, parseConfig, type ParsedConfig } from '../../src/config/parse-config.ts';

const file = path.join(import.meta.dirname, '../../config.example.toml');
const text = readFileSync(file, 'utf8');
/** Every example switched on. */
const whole = text.replace(/^#(?=\[|[A-Za-z_]+ = )/gm, '');

function complaints(parsed: ParsedConfig): string {
  return parsed.ok ? '' : parsed.problems.map(formatConfigProblem).join('\n');
}

test('G1 config.example.toml passes as it is, with an empty environment', () => {
  assert.equal(complaints(parseConfig(text, { file, env: {} })), '');
});

test('G1 what config.example.toml sets is what an empty file means', () => {
  const [example, empty] = [text, ''].map((one) => parseConfig(one, { file, env: {} }));
  assert.ok(example?.ok && empty?.ok);
  const { access, ...rest } = example.config;
  assert.deepEqual(
    {
      ...rest,
      access: { ...access, telegram: undefined, slack: undefined },
    },
    {
      ...empty.config,
      access: { ...empty.config.access, telegram: undefined, slack: undefined },
    },
  );
});

test('G1 every commented line of config.example.toml is valid too', () => {
  const names = [...whole.matchAll(/"\$([A-Z_]+)"/g)].map(([, name = '']) => name);
  assert.ok(names.length > 8);
  const env = Object.fromEntries(names.map((name) => [name, 'a-value-0123456789']));
  assert.equal(complaints(parseConfig(whole, { file, env })), '');
  const used = text.replace(/^#.*$/gm, '');
  assert.doesNotMatch(used, /\$[A-Z]/, 'lines with secrets stand commented');
});

test('G1 every key of the schema is in config.example.toml', () => {
  const data: unknown = parse(whole.replace(/^# or: /gm, ''));
  const keys = everyKey();
  assert.ok(
    keys.length > 130 && keys.includes('skills.*.env_in_bash') && keys.includes('policy.rules[].action'),
  );
  const absent = keys.filter((key) => !isWritten(data, key.replaceAll('[]', '.[]').split('.')));
  assert.deepEqual(absent, []);
});

/** `*` is any name, `[]` any item. */
function isWritten(value: unknown, [part, ...rest]: readonly string[]): boolean {
  if (part === undefined) return value !== undefined;
  if (typeof value !== 'object' || value === null) return false;
  const inside =
    part === '*' || part === '[]' ? Object.values(value) : [(value as Record<string, unknown>)[part]];
  return inside.some((one) => isWritten(one, rest));
}
