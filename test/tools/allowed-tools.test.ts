import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  parseAllowedTools,
  allToolsAllowed,
  type AllowedToolsResult,
} from '../../src/tools/allowed-tools.ts';
import { createToolRestriction } from '../../src/tools/tool-restriction.ts';
import { makeSkill } from '../support/make-skill.ts';
import { quietLog } from '../support/quiet-log.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
const host = [
  ...['ask_person', 'bash', 'list_files', 'mcp_notes_add', 'read_file'],
  ...[
    'skills_read_file',
    'skills_run_script',
    'state_get',
    'state_set',
    'use_skill',
    'web_fetch',
    'write_file',
  ],
];
const baseline = ['ask_person', 'skills_read_file'];
const own = ['skills_read_file', 'skills_run_script'];
const builtInTools = allTools();
const plain = { builtInTools, invalid: 'error' } as const;

function allowedBy(
  list: readonly string[] | undefined,
  options = plain as Parameters<typeof parseAllowedTools>[2],
): Allowed {
  const made = parseAllowedTools(list, host, options);
  assert.ok(made.ok, JSON.stringify(made));
  return made;
}
type Allowed = Extract<AllowedToolsResult, { ok: true }>;

function listed(list: readonly string[]): readonly string[] {
  return allowedBy(list).names.filter((name) => !baseline.includes(name));
}

test('T5 T6 X7 a list of tools that exist, though not for this person, is enforced and grants none of them', () => {
  const elsewhere = ['mcp_files_read'];
  const made = parseAllowedTools(['mcp_files_*'], ['bash', 'skills_read_file'], {
    builtInTools,
    invalid: 'error',
    elsewhere,
  });
  assert.ok(made.ok);
  assert.deepEqual(made.names, ['skills_read_file']);
  const turn = createToolRestriction({
    builtInTools,
    tools: () => ['bash', 'skills_list'],
    elsewhere: () => elsewhere,
    lent: { names: new Set(), by: () => [] },
    settings: () => ({ enforcement: 'on', invalid: 'ignore' }),
    now: () => undefined,
    log: quietLog(),
  });
  const judged = turn.judge(makeSkill('files', { allowedTools: ['mcp_files_read'] }));
  assert.ok(judged.ok);
  turn.activate(judged.activeSkill);
  assert.deepEqual(turn.names, ['skills_list']);
});

test('T5 no list, or an empty one, allows all that the host grants a run but use_skill', () => {
  const all = host.filter((name) => name !== 'use_skill' && !name.startsWith('capability_'));
  for (const list of [undefined, []]) {
    const made = allowedBy(list);
    assert.deepEqual(made.names, [...all].sort());
    assert.equal(made.allows('use_skill', {}), false);
    assert.equal(made.allows('rm', {}), false);
  }
});

test('T5 exact names, globs and dots are read', () => {
  assert.deepEqual(listed(['read_file']), ['read_file']);
  assert.deepEqual(listed(['state_*']), ['state_get', 'state_set']);
  assert.deepEqual(listed(['state.get']), ['state_get']);
  assert.deepEqual(listed(['state.*']), ['state_get', 'state_set']);
  assert.deepEqual(listed(['mcp_*', 'state_?et']), ['mcp_notes_add', 'state_get', 'state_set']);
  assert.deepEqual(listed(['state_[gx]et']), ['state_get']);
  assert.deepEqual(listed(['*ead_file']), ['read_file']);
  assert.deepEqual(listed(['READ_FILE', 'read_file']), ['read_file']);
});

test('T5 names of other programs are mapped', () => {
  assert.deepEqual(listed(['Bash', 'Read', 'Write']), [
    ...['bash', 'read_file', 'skills_run_script', 'write_file'],
  ]);
  for (const name of ['Shell', 'Execute', 'exec', 'run_shell_command'])
    assert.deepEqual(listed([name]), ['bash', 'skills_run_script'], name);
  assert.deepEqual(listed(['Edit']), ['write_file']);
  assert.deepEqual(listed(['WebFetch', 'WebSearch']), ['web_fetch']);
  for (const name of ['Glob', 'LS']) assert.deepEqual(listed([name]), ['list_files']);
});

test('T5 use_skill counts only when it is written out', () => {
  assert.deepEqual(listed(['use_skill']), ['use_skill']);
  for (const glob of ['*', 'use_*', 'use?skill', '[u]se_skill', 'use_skil[l]']) {
    assert.ok(!allowedBy([glob, 'bash']).names.includes('use_skill'), glob);
  }
});

test('D9 skill_write and skill_read count only when they are written out, too', () => {
  const offered = ['bash', 'skill_read', 'skill_write', 'skills_read_file'];
  const names = (list?: readonly string[]): readonly string[] => {
    const made = parseAllowedTools(list, offered, plain);
    assert.ok(made.ok);
    return made.names;
  };
  assert.deepEqual(names(), ['bash', 'skills_read_file']);
  for (const list of [[], ['*'], ['skill_*', 'bash'], ['skill?write', 'bash'], ['[s]kill_write', 'bash']])
    assert.ok(!names(list).some((name) => name.startsWith('skill_')), JSON.stringify(list));
  assert.deepEqual(names(['skill_write']), ['skill_write', 'skills_read_file']);
});

test('T5 a run keeps skills_read_file, ask_person where there is one, and the capabilities of a skill that declares some', () => {
  assert.deepEqual(allowedBy(['bash']).names, [...['ask_person', 'bash'], ...own]);
  const ofCapabilities = ['capability_invoke', 'capability_list'];
  const declares = parseAllowedTools(['bash'], [...host, ...ofCapabilities], plain);
  assert.ok(declares.ok);
  assert.deepEqual(declares.names, ['ask_person', 'bash', ...ofCapabilities, ...own]);
  const without = parseAllowedTools(['bash'], ['bash', 'skills_read_file'], plain);
  assert.ok(without.ok);
  assert.deepEqual(without.names, ['bash', 'skills_read_file']);
  assert.ok(!allowedBy(['capability_*', 'bash']).names.includes('capability_list'), 'none is offered');
});

test('T5 entries that grant nothing are named in a warning', () => {
  const made = allowedBy(['bash', 'nonsense', 'Read(src/**)', 'web_search', 'Bash(a;b:*)', '(x)']);
  assert.deepEqual(made.names, ['ask_person', 'bash', ...own]);
  assert.deepEqual(
    made.warnings.map(({ code, message }) => [code, message.split(' ')[1]]),
    ['nonsense', 'Read(src/**)', 'web_search', 'Bash(a;b:*)', '(x)'].map((entry) => [
      entry === 'web_search' ? 'ALLOWED_TOOLS_NOT_OFFERED' : 'ALLOWED_TOOLS_UNKNOWN',
      entry,
    ]),
  );
});

test('T5 a list that names nothing known is an error, the baseline or ignored, as config says', () => {
  for (const list of [['nonsense'], ['zz_*', 'Read(x)']]) {
    const refused = parseAllowedTools(list, host, plain);
    assert.ok(!refused.ok);
    assert.equal(refused.code, 'SKILL_MISCONFIGURED');
    assert.match(refused.message, new RegExp(list[0]?.slice(0, 2) ?? ''));
    assert.deepEqual(allowedBy(list, { ...plain, invalid: 'baseline' }).names, baseline);
    const ignored = allowedBy(list, { ...plain, invalid: 'ignore' });
    assert.deepEqual(ignored.names, allowedBy(undefined).names);
    assert.equal(ignored.warnings.at(-1)?.code, 'ALLOWED_TOOLS_IGNORED');
  }
});

test('T5 a known tool that the host does not offer leaves the baseline: it is no misconfiguration', () => {
  const made = parseAllowedTools(['Bash'], ['skills_read_file', 'web_fetch'], plain);
  assert.ok(made.ok);
  assert.deepEqual(made.names, ['skills_read_file']);
  assert.equal(made.warnings[0]?.code, 'ALLOWED_TOOLS_NOT_OFFERED');
});

test('T5 Bash(git:*) allows one simple command that begins with exactly these words', () => {
  const made = allowedBy(['Bash(git:*)', 'Bash(npm run test:*)', 'Bash(make all)', 'Bash(ls *)']);
  assert.deepEqual(made.commands, ['git', 'npm run test', 'make all', 'ls']);
  const allowed = [
    'git',
    'git status',
    "git commit -m 'a; b'",
    ' git\tlog',
    'npm run test -- x',
    'make all',
    'ls -l',
  ];
  for (const command of allowed) assert.ok(made.allows('bash', { command }), command);
  const refused = [
    ...['gitx', 'git-shell', '/usr/bin/git', 'npm run', 'npm run tests', 'make all x', 'make', ''],
    ...['git; id', 'git && id', 'git | id', 'git & id', 'git\nid', 'git $(id)', 'git `id`', 'git $HOME'],
    ...[
      'git > x',
      'git < x',
      'git *',
      'git ?',
      'git [a]',
      'git {a,b}',
      'git ~',
      'git \\; id',
      'git #x',
      '(git)',
    ],
    ...[
      'X=1 git',
      'git "$(id)"',
      'git "`id`"',
      'git "a\\"',
      "git 'a",
      'git "a',
      'git !x',
      'git\r\nid',
      'git\0id',
    ],
    ...['git \u2028id', 'env git', '! git', 'git <(id)', "git $'a'"],
  ];
  for (const command of refused)
    assert.equal(made.allows('bash', { command }), false, JSON.stringify(command));
  for (const input of [
    undefined,
    null,
    'git',
    {},
    { command: 1 },
    { command: ['git'] },
    { Command: 'git' },
  ]) {
    assert.equal(made.allows('bash', input), false, JSON.stringify(input));
  }
  assert.deepEqual(made.names, ['ask_person', 'bash', ...own]);
});

test('T5 a shell in the list, however limited, keeps the own scripts; a rule about a path of the skill is for those alone', () => {
  const startsOwnScript = (command: string): boolean => command.startsWith('scripts/');
  for (const entry of ['Bash(gh:*)', 'Bash(scripts/a.sh:*)', 'Shell']) {
    const made = allowedBy([entry], { ...plain, startsOwnScript });
    assert.ok(made.names.includes('skills_run_script'), entry);
    assert.ok(made.allows('bash', { command: 'scripts/b.sh x' }), entry);
  }
  for (const folder of [
    '{baseDir}',
    '${CLAUDE_SKILL_DIR}',
    '${CLAUDE_PLUGIN_ROOT}/skills/a',
    '<skill_dir>',
  ]) {
    const made = allowedBy([`Bash(python3 ${folder}/scan.py:*)`], { ...plain, startsOwnScript });
    assert.deepEqual([made.warnings, made.commands], [[], ['a script of this skill']]);
    assert.ok(made.allows('bash', { command: 'scripts/b.sh x' }));
    assert.equal(made.allows('bash', { command: 'python3 other.py' }), false);
    const without = parseAllowedTools([`Bash(${folder}/scan.sh)`], ['bash', 'skills_read_file'], plain);
    assert.ok(without.ok && !without.names.includes('bash'), 'a skill without scripts has no shell by it');
  }
  assert.equal(allowedBy(['b*', 'Read']).names.includes('skills_run_script'), false);
  assert.equal(allowedBy(['Read']).names.includes('skills_run_script'), false);
});

test('T5 Bash(mkdir*) leaves the end of its last word open, and nothing else', () => {
  const made = allowedBy(['Bash(mkdir*)', 'Bash(git pu*)']);
  assert.deepEqual(made.commands, ['mkdir*', 'git pu*']);
  for (const command of ['mkdir', 'mkdir -p a', 'mkdirs', 'git push', 'git pull --all'])
    assert.ok(made.allows('bash', { command }), command);
  for (const command of ['amkdir', 'mkdi', 'mkdir a; id', 'git', 'git log', 'gita pu', 'mkdir $X'])
    assert.equal(made.allows('bash', { command }), false, command);
});

test('T5 a * in a rule is any text, as in Claude Code, and a last one may be left out', () => {
  const cases: readonly (readonly [rule: string, allowed: readonly string[], refused: readonly string[]])[] =
    [
      ['npm run *', ['npm run', 'npm run build', 'npm run a -- --b'], ['npm', 'npm runx', 'npm install']],
      ['ls *', ['ls', 'ls -la', "ls 'a b'"], ['lsof', 'ls-la']],
      ['ls*', ['ls', 'ls -la', 'lsof'], ['als']],
      ['git log:*', ['git log', 'git log --oneline'], ['git logs', 'git', 'git status']],
      [
        'git * main',
        ['git merge main', 'git push origin main'],
        ['git main', 'git merge maine', 'git merge main x'],
      ],
      [
        'npx *eas-cli@*',
        ['npx eas-cli@latest build', 'npx --yes eas-cli@1'],
        ['npx eas-cli', 'npxeas-cli@1'],
      ],
      ['git commit -m *', ["git commit -m 'a; b'", 'git commit -m'], ['git commit', 'git commit --amend']],
      ['a*b*c', ['abc', 'a1b2c', 'a b c'], ['ac', 'abcd', 'a c b']],
      ['a*a', ['aa', 'aba'], ['a']],
      ["echo 'a b' *", ["echo 'a b' c", 'echo "a b"'], ['echo a b']],
      [
        'node *expo-ui/scripts/list.js *',
        ['node /x/expo-ui/scripts/list.js a', 'node expo-ui/scripts/list.js'],
        ['node list.js'],
      ],
      ['python scripts/*', ['python scripts/a.py x'], ['python scripts/../../scratch/a.py', 'python a.py']],
    ];
  const tricks = [
    ...[
      '; id',
      ' && id',
      ' || id',
      ' | id',
      ' & id',
      '\nid',
      ' $(id)',
      ' `id`',
      ' > x',
      ' < x',
      ' <(id)',
      ' $HOME',
    ],
    ...[' "$(id)"', ' \\; id', ' {a,b}', '\r\nid'],
  ];
  for (const [rule, allowed, refused] of cases) {
    const made = allowedBy([`Bash(${rule})`]);
    assert.deepEqual(made.warnings, [], rule);
    for (const command of allowed) {
      assert.ok(made.allows('bash', { command }), `${rule}: ${command}`);
      for (const trick of tricks)
        assert.equal(made.allows('bash', { command: command + trick }), false, `${rule}: ${command}${trick}`);
      for (const before of ['env ', 'xargs ', 'X=1 ', 'sh -c ', 'sudo ', '! ', '(']) {
        const command2 = before + command;
        assert.equal(made.allows('bash', { command: command2 }), false, `${rule}: ${command2}`);
      }
    }
    for (const command of refused)
      assert.equal(made.allows('bash', { command }), false, `${rule}: ${command}`);
  }
});

test('T5 a rule that is not understood is told with its reason and spoils nothing; alone it says why nothing runs', () => {
  for (const [rule, why] of [
    ['* --version', /first word begins with \*/],
    ['git status && git log', /not one simple command/],
    ['echo $HOME', /not one simple command/],
    ['git log | head', /not one simple command/],
  ] as const) {
    const made = allowedBy([`Bash(${rule})`, 'Bash(git:*)']);
    assert.match(made.warnings[0]?.message ?? '', why);
    assert.deepEqual(made.commands, ['git']);
    assert.equal(made.allows('bash', { command: 'id --version' }), false);
    const alone = parseAllowedTools([`Bash(${rule})`], host, plain);
    assert.ok(!alone.ok);
    assert.match(alone.message, why);
  }
});

test('T5 bash without a restriction wins over bash with one', () => {
  for (const list of [['Bash(git:*)', 'Bash'], ['Bash(git:*)', 'b*'], ['Bash(*)']]) {
    const made = allowedBy(list);
    assert.equal(made.commands, undefined);
    assert.ok(made.allows('bash', { command: 'git; id' }), list.join());
  }
});

test('T5 whatever a list says, nothing beyond the host is allowed, and names and verdicts agree', () => {
  const entry = fc.oneof(
    fc.constantFrom(...host, 'Bash', 'Read', 'Bash(git:*)', '*', 'state_*', 'x', '[a-z]*', '!x', 'use_skill'),
    fc.string({ maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...'*?[]!-_.absuek()'), maxLength: 12 }),
  );
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 5 }),
      fc.subarray(host),
      fc.constantFrom('error', 'baseline', 'ignore'),
      (list, granted, invalid) => {
        const made = parseAllowedTools(list, granted, { builtInTools, invalid });
        if (!made.ok) return assert.equal(invalid, 'error');
        for (const name of made.names) assert.ok(granted.includes(name), name);
        for (const kept of baseline) assert.equal(made.names.includes(kept), granted.includes(kept));
        if (
          !list.some((each) => each.trim().replaceAll('.', '_') === 'use_skill' || /^use.skill\(/.test(each))
        ) {
          assert.ok(!made.names.includes('use_skill'));
        }
        for (const name of [...host, ...list, 'toString', '__proto__']) {
          if (name !== 'bash') assert.equal(made.allows(name, {}), made.names.includes(name), name);
        }
      },
    ),
    { numRuns },
  );
});

test('T5 an open ceiling, for the main agent, allows what it is given and no more', () => {
  const open = allToolsAllowed(['use_skill', 'skills_list']);
  assert.deepEqual(open.names, ['skills_list', 'use_skill']);
  assert.ok(open.allows('use_skill', {}));
  assert.equal(open.allows('bash', { command: 'ls' }), false);
});
