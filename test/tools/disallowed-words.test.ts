import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { test } from 'node:test';
import { allToolsAllowed } from '../../src/tools/allowed-tools.ts';
import { readDisallowed, unknownDisallowed, withoutDisallowed } from '../../src/tools/disallowed-tools.ts';
import { makeSkill } from '../support/make-skill.ts';

const host = ['ask_person', 'bash', 'mcp_notes_add', 'mcp_notes_wipe', 'read_file', 'skills_run_script'];
host.push('subagent', 'use_skill', 'web_fetch', 'write_file');

const shells = [
  ...['Bash', 'Shell', 'bash', 'shell', 'exec', 'Execute', 'Terminal'],
  ...['execute_command', 'run_shell_command', 'run_terminal_cmd'],
];

function lost(...entries: readonly string[]): readonly string[] {
  const kept = withoutDisallowed(allToolsAllowed(host), entries).names;
  return host.filter((name) => !kept.includes(name));
}

test('F11 whoever takes a tool away takes the other ways to the same away, too', () => {
  const shell = ['bash', 'skills_run_script'];
  const cases: Readonly<Record<string, readonly string[]>> = {
    ...Object.fromEntries(shells.map((name) => [name, shell])),
    MultiEdit: ['write_file'],
    NotebookEdit: ['write_file'],
    AskUserQuestion: ['ask_person'],
    Agent: ['subagent', 'use_skill'],
    Task: ['subagent', 'use_skill'],
    Skill: ['use_skill'],
    subagent: ['subagent'],
    ' Bash ': shell,
    'Bash( * )': shell,
    'Bash()': shell,
    'Bash( :* )': shell,
    'Bash(;)': shell,
    'Bash( git )': [],
    'Read( a )': ['read_file'],
    'use_*': ['use_skill'],
    mcp__notes: ['mcp_notes_add', 'mcp_notes_wipe'],
    mcp__notes__add: ['mcp_notes_add'],
    mcp__no: [],
    xmcp__notes: [],
    mcp__: [],
    // No entry that can be read: it is told, and the rest counts.
    'Bash(git': [],
    'x)bash': [],
    '': [],
  };
  for (const [entry, names] of Object.entries(cases)) assert.deepEqual(lost(entry), names, entry);
});

test('F11 nothing changes where nothing is disallowed; a disallowed tool is neither shown nor callable', () => {
  const allowed = allToolsAllowed(host);
  assert.equal(withoutDisallowed(allowed, []), allowed);
  assert.equal(withoutDisallowed(allowed), allowed);
  const left = withoutDisallowed(allowed, ['Write']);
  for (const name of [...host, 'unknown'])
    assert.equal(left.allows(name, {}), left.names.includes(name), name);
  assert.deepEqual(
    left.names,
    allowed.names.filter((name) => name !== 'write_file'),
  );
  assert.deepEqual(left.warnings, allowed.warnings);
});

test('F11 only commands of bash are held against a rule about commands, and only if there is one', () => {
  const { tool, call } = readDisallowed(['Write', 'Bash(git:*)', 'Bash(rm -rf:*)']);
  assert.deepEqual(
    host.filter((name) => tool(name)),
    ['write_file'],
  );
  const cases: readonly (readonly [name: string, input: unknown, disallowed: boolean])[] = [
    ['bash', { command: 'git push' }, true],
    ['bash', { command: 'rm -r -rf x' }, true],
    ['bash', { command: 'rm x' }, false],
    ['bash', { command: '-rf rm' }, false],
    ['bash', { command: 'ls' }, false],
    ['bash', {}, false],
    ['bash', { command: ['git'] }, false],
    ['bash', 'git', false],
    ['bash', null, false],
    ['bash', undefined, false],
    ['read_file', { command: 'git push' }, false],
    ['write_file', {}, true],
    ['write_file', { command: 'ls' }, true],
  ];
  for (const [name, input, disallowed] of cases)
    assert.equal(call(name, input), disallowed, `${name} ${JSON.stringify(input)}`);
  const plain = readDisallowed(['Write', 'Read(x)']);
  for (const command of ['git push', 'echo $HOME', 'ls *'])
    assert.equal(plain.call('bash', { command }), false, 'no rule is about commands');
});

test('F11 a rule’s words come in their order, with anything between, and letters of other words do not count', () => {
  const cases: readonly (readonly [rule: string, command: string, disallowed: boolean])[] = [
    ['git*push', 'git x push', true],
    ['git*push', 'gitpush', false],
    ['git * push', 'git push', true],
    ['git:*', 'git', true],
    ['git:*', 'gi t', false],
    ['git push', 'push git', false],
    ['git push', 'git; push', true],
    ['/usr/bin/git', 'git', true],
    ['git', './git', true],
    ["'git' push", 'git push', true],
    ['a:*b', 'a:b', false],
    ['a:*b', 'a: b', true],
    ...[';', '&', '|', '(', ')', '<', '>', '{', '}', '=', ',', '!', ' ', '\t', '\n', ';;', ' && '].map(
      (mark) => ['git', `x${mark}git${mark}y`, true] as const,
    ),
    ...['-', '_', '.', ':', '@', '+', '%'].map((mark) => ['git', `x${mark}git`, false] as const),
    ...['$X', '`x`', '*', '?', '[a]', ']', '~', '\\x', 'eval x', 'base64 -d', 'xxd x'].map(
      (hidden) => ['git', `ls ${hidden}`, true] as const,
    ),
    ['git', 'medieval basement', false],
    ['git', 'base640 xxdy', false],
  ];
  for (const [rule, command, disallowed] of cases)
    assert.equal(
      readDisallowed([`Bash(${rule})`]).call('bash', { command }),
      disallowed,
      `${rule}: ${command}`,
    );
});

test('F11 an entry that takes nothing away is told where it is written; a tool of Claude Code is not', () => {
  const none = ['Bsah', 'MyTodo', 'Todo2', 'Bash_x', 'Bash(git', 'zz_*', 'xmcp__y'];
  const fine = [
    ...[
      'MultiEdit',
      'TodoWrite',
      'ExitPlanMode',
      'KillShell',
      'BashOutput',
      'Bash',
      'Bash(git:*)',
      'Read(x)',
    ],
    ...['mcp__x', 'mcp__x__y', 'mcp_x_y', 'own_tool', 'own_*', 'AskUserQuestion', 'Skill'],
  ];
  const found = unknownDisallowed(
    makeSkill('a', { path: '/a/SKILL.md', disallowedTools: [...none, ...fine] }),
    ['own_tool'],
    allTools(),
  );
  assert.deepEqual(
    found.map(({ message, ...rest }) => ({
      entry: /^disallowed_tools: (.*) takes nothing away/.exec(message)?.[1],
      ...rest,
    })),
    none.map((entry) => ({
      ...{ entry, level: 'warning', code: 'DISALLOWED_TOOLS_UNKNOWN' },
      ...{ path: '/a/SKILL.md', field: 'disallowed_tools' },
    })),
  );
  assert.deepEqual(unknownDisallowed(makeSkill('a'), [], allTools()), []);
});
