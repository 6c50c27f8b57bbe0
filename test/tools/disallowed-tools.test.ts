import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { test } from 'node:test';
import { allToolsAllowed } from '../../src/tools/allowed-tools.ts';
import { unknownDisallowed, withoutDisallowed } from '../../src/tools/disallowed-tools.ts';
import { createToolRestriction } from '../../src/tools/tool-restriction.ts';
import { makeSkill } from '../support/make-skill.ts';
import { quietLog } from '../support/quiet-log.ts';

const host = [
  'ask_person',
  'bash',
  'list_files',
  'mcp_notes_add',
  'mcp_notes_wipe',
  'mcp_web_get',
  'read_file',
];
host.push('skills_read_file', 'skills_run_script', 'use_skill', 'web_fetch', 'web_search', 'write_file');

function left(...entries: readonly string[]): readonly string[] {
  return withoutDisallowed(allToolsAllowed(host), entries).names;
}
function lost(...entries: readonly string[]): readonly string[] {
  const kept = left(...entries);
  return host.filter((name) => !kept.includes(name));
}
function runs(command: string, ...entries: readonly string[]): boolean {
  return withoutDisallowed(allToolsAllowed(host), entries).allows('bash', { command });
}

test('F11 disallowed-tools takes tools away by their names here and in Claude Code, and by globs', () => {
  assert.deepEqual(left(), [...host].sort());
  const shell = ['bash', 'skills_run_script'];
  assert.deepEqual(lost('Bash', 'Write', 'WebFetch'), [...shell, 'web_fetch', 'write_file']);
  assert.deepEqual(lost('Bash(*)'), shell);
  assert.deepEqual(lost('Bash(:*)'), shell);
  assert.deepEqual(lost('Edit'), ['write_file']);
  assert.deepEqual(lost('MultiEdit', 'NotebookEdit'), ['write_file']);
  assert.deepEqual(lost('AskUserQuestion'), ['ask_person']);
  assert.deepEqual(lost('Task'), ['use_skill']);
  assert.deepEqual(lost('web_*'), ['web_fetch', 'web_search']);
  assert.deepEqual(lost('mcp__notes'), ['mcp_notes_add', 'mcp_notes_wipe']);
  assert.deepEqual(lost('mcp__notes__wipe'), ['mcp_notes_wipe']);
  assert.deepEqual(lost('mcp_*'), ['mcp_notes_add', 'mcp_notes_wipe', 'mcp_web_get']);
  assert.deepEqual(lost('*'), host);
  // What can't be limited goes as a whole.
  assert.deepEqual(lost('Read(./secrets/**)'), ['read_file']);
  assert.deepEqual(lost('WebFetch(domain:example.com)'), ['web_fetch']);
  assert.deepEqual(lost('NoSuchTool'), []);
});

test('F11 Bash(git:*) takes git away however the command is written, and leaves the rest', () => {
  const rule = 'Bash(git:*)';
  assert.deepEqual(lost(rule), []);
  for (const command of ['ls -la', 'cat a.txt | head -3', 'echo digit', 'python3 x.py > legit.txt'])
    assert.ok(runs(command, rule), command);
  for (const command of [
    ...[
      'git',
      'git push',
      '/usr/bin/git push',
      'cd x && git status',
      'ls; git log',
      'ls|git apply',
      '(git x)',
    ],
    ...[
      "sh -c 'git push'",
      'env A=1 git push',
      'timeout 5 git push',
      '"git" push',
      "g'i't push",
      'g\\it push',
    ],
    ...['echo x\ngit push', '$(echo git) push', '`echo git` push', 'G=gi; ${G}t push', '/usr/bin/gi? push'],
    ...[
      'xargs git < a',
      'eval "$(cat x)"',
      'find . -exec git {} +',
      'bash <(echo git)',
      'FOO=git',
      'x=git;echo $x',
    ],
  ])
    assert.ok(!runs(command, rule), command);
  assert.ok(runs('git status', 'Bash(git push:*)'));
  for (const command of ['git push', 'git -C x push', 'git -c a=b push origin', 'cd a&&git  push'])
    assert.ok(!runs(command, 'Bash(git push:*)'), command);
  for (const form of ['Bash(rm *)', 'Bash(rm:*)', 'Bash(rm)', 'Bash(rm -rf *)', 'bash(rm:*)'])
    assert.ok(!runs('rm -rf x', form), form);
});

test('F11 T6 while the main agent follows a skill it loses what the skill disallows, also after an edit and where lists are not enforced', () => {
  const files = new Map<string, readonly string[]>();
  const restriction = createToolRestriction({
    builtInTools: allTools(),
    tools: () => host,
    elsewhere: () => [],
    lent: { names: new Set(), by: () => [] },
    settings: () => ({ enforcement: 'off', invalid: 'error' }),
    now: (name) => ({ disallowedTools: files.get(name) }),
    log: quietLog(),
  });
  const judged = restriction.judge(makeSkill('a', { disallowedTools: ['WebFetch', 'Bash(git:*)'] }));
  assert.ok(judged.ok);
  assert.ok(restriction.names.includes('web_fetch'), 'judging binds nothing');
  restriction.activate(judged.activeSkill);
  assert.ok(!restriction.names.includes('web_fetch'));
  assert.ok(!restriction.allows('web_fetch', {}));
  assert.ok(!restriction.allows('bash', { command: 'git push' }));
  assert.ok(restriction.allows('bash', { command: 'ls' }));
  files.set('a', ['Write']);
  assert.ok(!restriction.names.includes('write_file'));
  assert.ok(!restriction.names.includes('web_fetch'), 'an edit gives nothing back');
});

test('F11 a name that no tool here has is told; tools of Claude Code that do not exist here are not', () => {
  const entries = [
    'Bsah',
    'Bash',
    'NotebookEdit',
    'TodoWrite',
    'mcp__x__y',
    'own_tool',
    'web_*',
    'Bash(git:*)',
  ];
  const found = unknownDisallowed(makeSkill('a', { disallowedTools: entries }), ['own_tool'], allTools());
  assert.deepEqual(
    found.map(({ message }) => message),
    ['disallowed_tools: Bsah takes nothing away: no tool is called that'],
  );
});
