import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareLines, requestsMore } from '../../src/skills/install/install-compare.ts';
import { parseSkill } from '../../src/skills/parse/parse-skill.ts';
import { printable } from '../../src/lib/text/text.ts';
import { skillText } from './make-root.ts';

const shown = (before: string, after: string): string =>
  compareLines(before, after)
    .map(({ mark, text }) => mark + text)
    .join('\n');

test('D6 a difference shows every changed line, what is around it, and how much is left out', () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
  const changed = lines.with(10, 'other').toSpliced(11, 0, 'new');
  assert.equal(
    shown(`${lines.join('\n')}\n`, `${changed.join('\n')}\n`),
    '@7 lines unchanged\n line 7\n line 8\n line 9\n-line 10\n+other\n+new\n line 11\n line 12\n line 13',
  );
  assert.equal(shown('', 'a\nb\n'), '+a\n+b');
  assert.equal(shown('a\nb\n', ''), '-a\n-b');
  assert.equal(shown('a\n', 'a'), '-a\n+a\\ no line end');
  assert.equal(shown('a\nb\nc\n', 'c\nb\na\n'), '-a\n-b\n c\n+b\n+a');
});

test('D6 a long text that changed all over is shown whole', () => {
  const many = (word: string): string =>
    Array.from({ length: 3_000 }, (_, index) => `${word} ${index}`).join('\n');
  const lines = compareLines(many('a'), many('b'));
  assert.equal(lines.filter(({ mark }) => mark === '-').length, 3_000);
  assert.equal(lines.filter(({ mark }) => mark === '+').length, 3_000);
});

test('D6 S1 text of strangers can neither steer a terminal nor begin a line', () => {
  assert.equal(printable('a\u001b[2Jb\rc\nd\te'), 'a\\u{1b}[2Jb\\u{d}c\\u{a}d\te');
  assert.equal(
    printable('x\u202ey\u200bz\u2028w\u{e0041}\ufe0f'),
    'x\\u{202e}y\\u{200b}z\\u{2028}w\\u{e0041}\\u{fe0f}',
  );
  assert.equal(printable('Grüße 你好 🎲'), 'Grüße 你好 🎲');
});

test('D6 what a new version asks for beyond the old one is named, and only that', () => {
  const parse = (front: string) => {
    const read = parseSkill({
      path: 'a/SKILL.md',
      directory: 'a',
      origin: 'installed',
      bytes: Buffer.from(skillText(`name: a\ndescription: d\n${front}`)),
      cut: false,
    });
    assert.ok(read.ok);
    return read.definition;
  };
  const strict = parse(
    'sensitive: true\nopt_in: true\ndisable_model_invocation: true\nuser_invocable: false\nallowed_tools: [read_file]\nenv: [A]',
  );
  const lax = parse(
    'env: [A, B]\npackages: [curl]\nnetwork: [x.example.com]\ncapabilities: [a.b]\ncontext: inline\nbackground: true',
  );
  assert.deepEqual(requestsMore(strict, lax), [
    'env: B',
    'packages: curl',
    'capabilities: a.b',
    'network: x.example.com',
    'tools: every tool that a run may be given',
    'it is no longer sensitive',
    'it works in group, channel chats too',
    'it is on without config saying so',
    'a model may start it',
    'people may start it by name',
    'it runs in the background',
    'its instructions go to the main agent itself',
  ]);
  assert.deepEqual(requestsMore(lax, strict), []);
  assert.deepEqual(
    requestsMore(
      strict,
      parse(
        'sensitive: true\nopt_in: true\ndisable_model_invocation: true\nuser_invocable: false\nallowed_tools: [read_file, bash]',
      ),
    ),
    ['tools: bash'],
  );
});
