import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'smol-toml';
import { formatConfigProblem } from '../../src/config/config-problem.ts';
import type { KeyPath } from '../../src/config/section.ts';
import { everyKey, parseConfig, type ParsedConfig } from '../../src/config/parse-config.ts';
import { maskedConfig, showConfig } from '../../src/config/secrets-of-config.ts';
import { isSecretKey } from '../../src/config/secrets-of-config.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
const canary = 'c4n4ry-Value';
const example = readFileSync(path.join(import.meta.dirname, '../../config.example.toml'), 'utf8');
const whole = example.replace(/^#(?=\[|[A-Za-z_]+ = )/gm, '');

/** Everything that could be printed of a result. */
function printed(parsed: ParsedConfig): string {
  if (parsed.ok) return showConfig(parsed.config) + JSON.stringify(maskedConfig(parsed.config));
  return JSON.stringify(parsed.problems) + parsed.problems.map(formatConfigProblem).join('\n');
}

/** `a.*.b[]` as a path with a name and a position filled in. */
const paths: readonly KeyPath[] = [
  ...everyKey(),
  'skills.*.MY_KEY',
  'mcp.*.env.X',
  'mcp.*.headers.X',
  'tools.*.x.apiKey',
]
  .map((key) => key.replaceAll('[]', '.[]').split('.'))
  .map((parts) => parts.map((part) => (part === '*' ? 'name' : part === '[]' ? 0 : part)));

function fileWith(where: KeyPath, value: unknown): string {
  const nested = where.reduceRight<unknown>(
    (inner, part) => (part === 0 ? [inner] : { [part]: inner }),
    value,
  );
  return stringify(nested);
}

test('G5 a value from the environment is printed by no error and by no show, whatever key it stands at', () => {
  const env = { CANARY: canary, NUMBER: '123456789' };
  for (const where of paths) {
    for (const value of ['$CANARY', ['$CANARY'], { X: '$CANARY' }, [['$CANARY']]]) {
      const text = fileWith(where, value);
      assert.ok(!printed(parseConfig(text, { env })).includes(canary), text);
    }
    const text = fileWith(where, '$NUMBER');
    assert.ok(!printed(parseConfig(text, { env })).includes(env.NUMBER), text);
  }
});

test('G5 a secret in the file is printed by no error about its own key, whatever its shape', () => {
  const secrets = paths.filter(isSecretKey);
  assert.ok(secrets.length >= 9);
  for (const where of secrets) {
    for (const value of [
      canary,
      'c4n4ry value!',
      [canary],
      { x: canary },
      [[canary]],
      987654321,
      [987654321],
    ]) {
      const text = fileWith(where, value);
      assert.doesNotMatch(printed(parseConfig(text, { env: {} })), /c4n4ry|987654321/, text);
      assert.doesNotMatch(printed(parseConfig(`${text}\nbroken = "`, { env: {} })), /c4n4ry|987654321/, text);
    }
  }
});

test('G5 a long text at the wrong key is not printed: it may be a token that was put there by mistake', () => {
  const token = '123456789:AAExampleExampleExampleExampleExample';
  for (const where of paths.filter((one) => !isSecretKey(one))) {
    const parsed = parseConfig(fileWith(where, token), { env: {} });
    if (!parsed.ok) assert.ok(!printed(parsed).includes(token), where.join('.'));
  }
});

test('S6 G2 whatever is done to a config file, parsing gives a config or problems with their fix, and never throws', () => {
  const edit = fc.record({
    at: fc.nat(whole.length),
    length: fc.nat(12),
    text: fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.constantFrom('"', '[', ']', '=', '\n', '"""', '{', '}', '.', '#', "'"),
    ),
  });
  const env = Object.fromEntries(
    [...whole.matchAll(/"\$([A-Z_]+)"/g)].map(([, name = '']) => [name, canary]),
  );
  const property = fc.property(
    fc.constantFrom(example, whole),
    fc.array(edit, { minLength: 1, maxLength: 3 }),
    (start, edits) => {
      const text = edits.reduce(
        (now, { at, length, text: put }) => now.slice(0, at) + put + now.slice(at + length),
        start,
      );
      const parsed = parseConfig(text, { env });
      assert.ok(!printed(parsed).includes(canary), printed(parsed));
      if (parsed.ok) return;
      assert.ok(parsed.problems.length > 0);
      for (const { message } of parsed.problems) assert.match(message, /: [^]+[.?]$/);
    },
  );
  fc.assert(property, { numRuns });
});
