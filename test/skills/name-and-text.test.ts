import assert from 'node:assert/strict';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';
import { parseSkill } from '../../src/skills/parse/parse-skill.ts';
import { problemsOf } from './read-skill.ts';

/** Name and description of a loaded skill, or the name of a refused one and what D7 makes of it. */
function read(text: string, path = '/root/tool/SKILL.md'): readonly string[] {
  const directory = basename(path) === 'SKILL.md' ? dirname(path) : undefined;
  const result = parseSkill({ path, directory, bytes: Buffer.from(text), cut: false, origin: 'user' });
  if (!result.ok)
    return [result.name, result.accessBroken ? 'off' : 'refused', ...problemsOf(result.diagnostics)];
  const { name, description, flat, diagnostics } = result.definition;
  assert.equal(flat, directory === undefined);
  return [name, description, ...problemsOf(diagnostics)];
}

const x64 = 'x'.repeat(64);
const noName = 'note NAME_MISSING name';
const noDescription = 'warning DESCRIPTION_MISSING description';

test('F1 F6 the name of a skill, of a folder and of a flat file', () => {
  const rows: readonly (readonly [line: string, path: string, name: string, ...problems: string[]])[] = [
    ['name: tool', '/root/tool/SKILL.md', 'tool'],
    ['name: tool', '/root/tool.md', 'tool'],
    ['name: other', '/root/tool.md', 'other'],
    ['name: ｔｏｏｌ', '/root/tool/SKILL.md', 'tool'],
    ['name: tool', '/root/ｔｏｏｌ/SKILL.md', 'tool'],
    ['name: 日本', '/root/日本/SKILL.md', '日本'],
    ['', '/root/My Tool.MD', 'my-tool', noName],
    ['', '/root/a.mdx.md', 'a-mdx', noName],
    ['name: tool # x', '/root/tool.md', 'tool', '2 warning COMMENT_CUTS_VALUE name'],
    ['name: ""', '/root/tool/SKILL.md', 'tool', noName],
    ['name:', '/root/tool/SKILL.md', 'tool', noName],
    ['name: [a]', '/root/tool/SKILL.md', 'tool', 'warning NAME_MISSING name'],
    ['name: {a: b}', '/root/tool.md', 'tool', 'warning NAME_MISSING name'],
    ['name: A b', '/root/a-b.md', 'a-b', 'warning NAME_INVALID name'],
    [`name: ${x64}`, `/root/${x64}/SKILL.md`, x64],
    [`name: ${x64}x`, `/root/${x64}x/SKILL.md`, `${x64}x`, 'warning NAME_TOO_LONG name'],
    [`name: ${'𐓘'.repeat(64)}`, '/root/x.md', '𐓘'.repeat(64)],
    [`name: ${'𐓘'.repeat(65)}`, '/root/x.md', '𐓘'.repeat(65), 'warning NAME_TOO_LONG name'],
  ];
  for (const row of rows) {
    const [line, path] = row;
    const [name, description, ...problems] = read(`---\n${line}\ndescription: d\n---\nB`, path);
    assert.deepEqual([[line, path, name, ...problems], description], [row, 'd']);
  }
});

test('F5 G4 a name without a letter, a name that the config keeps for itself, and an empty body are refused under a name', () => {
  const rows: readonly (readonly [text: string, path: string, ...read: string[]])[] = [
    [
      '---\nname: "!"\ndescription: d\n---\nB',
      '/root/-.md',
      '',
      'refused',
      'warning NAME_INVALID name',
      'error NAME_MISSING name',
    ],
    ['---\ndescription: d\n---\nB', '/root/!!.md', '', 'refused', noName, 'error NAME_MISSING name'],
    ['---\nname: defaults\nenv: a\n---\nB', '/root/x.md', 'defaults', 'refused', 'error NAME_RESERVED name'],
    ['---\nname: other\ndescription: d\n---\n \n\t\n', '/root/x.md', 'other', 'refused', 'error BODY_EMPTY'],
    ['---\nname: other\n---\n# T', '/root/x.md', 'other', 'refused', 'error DESCRIPTION_MISSING description'],
    [
      '---\nname: other\nenv: a\ndescription: [a]\nmodel: ""\n---\n# T',
      '/root/x.md',
      'other',
      'off',
      '3 error FIELD_INVALID env',
      '5 warning FIELD_INVALID model',
    ],
    ['---\nname: x\nname-: a\nname_: b\n---\nB', '/root/x.md', 'x', 'refused', 'error FIELD_TWICE name_'],
    [
      '---\nname: x\nname-: a\nname_: b\nenv: a\n---\nB',
      '/root/x.md',
      'x',
      'off',
      'error FIELD_TWICE name_',
      '5 error FIELD_INVALID env',
    ],
  ];
  for (const row of rows) {
    const [text, path] = row;
    assert.deepEqual([text, path, ...read(text, path)], row);
  }
});

test('F6 the description is one line of at most 1,024 code points', () => {
  const rows: readonly (readonly [line: string, description: string, ...problems: string[]])[] = [
    ['description: "  a  b\\n\\tc "', 'a b c'],
    ['description: |\n  a\n\n  b', 'a b'],
    ['description: >-\n  a\n  b', 'a b'],
    ['description: Use: it', 'Use: it', 'warning YAML_REPAIRED description'],
    [`description: ${'é'.repeat(1024)}`, 'é'.repeat(1024)],
    [
      `description: ${'😀'.repeat(1025)}`,
      `${'😀'.repeat(1023)}…`,
      'warning DESCRIPTION_TRUNCATED description',
    ],
    ['', 'Body', noDescription],
    ['description: "  "', 'Body', noDescription],
    ['description: [a]', 'Body', noDescription],
    ['description: {a: b}', 'Body', noDescription],
  ];
  for (const row of rows) {
    const [line] = row;
    assert.deepEqual([line, ...read(`---\nname: tool\n${line}\n---\nBody`).slice(1)], row);
  }
});

test('F6 the default description is the first paragraph of prose', () => {
  const rows: readonly (readonly [body: string, paragraph: string | undefined])[] = [
    ['  indented  \n  too\n# T\nmore', 'indented too'],
    ['one\n\ntwo', 'one'],
    ['\r\n# T\r\n\r\none\r\ntwo\r\n', 'one two'],
    ['####### seven', '####### seven'],
    ['#tag is text', '#tag is text'],
    ['text # x', 'text # x'],
    ['- item', '- item'],
    ['--\nx', '-- x'],
    ['--- x', '--- x'],
    ['-a-b-', '-a-b-'],
    ['``\nx', '`` x'],
    ['<b>\n| t |\n![i](x)\n###### six\n* * *\n===\n_ _  _\n\ntext <b> | !', 'text <b> | !'],
    ['#\n##\n######', undefined],
    ['````\ncode\n````\nafter', 'after'],
    ['~~~~~\ncode\n```\n~~~\nafter', 'after'],
    ['```sh\n~~~\ncode\n```\nafter', 'after'],
    ['one\n```\ncode\n```\ntwo', 'one'],
    ['```\na\n```\n```\nb\n```\nafter', 'after'],
    ['see ``` here\nand ~~~ there', 'see ``` here and ~~~ there'],
    ['```\nopen\n\nnever', undefined],
  ];
  for (const [body, paragraph] of rows)
    assert.deepEqual(
      [body, ...read(`---\nname: tool\n---\n${body}`)],
      paragraph === undefined
        ? [body, 'tool', 'refused', 'error DESCRIPTION_MISSING description']
        : [body, 'tool', paragraph, noDescription],
    );
});
