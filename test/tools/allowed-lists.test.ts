import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coversCommand, readAllowedEntry } from '../../src/tools/allowed-entry.ts';
import {
  allowsSimpleOnly,
  allToolsAllowed,
  knownTools,
  listRunsScripts,
  namedElsewhere,
  namesListed,
  notAllowed,
  parseAllowedTools,
  unknownEntries,
} from '../../src/tools/allowed-tools.ts';
import { allTools } from '../../src/features/list.ts';
import { withoutDisallowed } from '../../src/tools/disallowed-tools.ts';

const host = ['bash', 'mcp_notes_add', 'read_file', 'skills_read_file', 'skills_run_script', 'web_fetch'];
const builtInTools = allTools();
const plain = { builtInTools: allTools(), invalid: 'error' } as const;

test('T5 each name that other programs give a tool means one here, and only if written as they write it', () => {
  const names: Readonly<Record<string, readonly string[]>> = {
    bash: [
      ...['Bash', 'Shell', 'shell', 'Execute', 'exec', 'Terminal', 'execute_command'],
      ...['run_shell_command', 'run_terminal_cmd', 'bash'],
    ],
    read_file: ['Read', 'read.file'],
    write_file: ['Write', 'Edit'],
    web_fetch: ['WebFetch'],
    web_search: ['WebSearch'],
    list_files: ['Glob', 'LS'],
    grep_files: ['Grep'],
    subagent: ['Agent', 'Task'],
    ask_person: ['AskUserQuestion'],
    READ: ['READ'],
    toString: ['toString'],
    constructor: ['constructor'],
  };
  for (const [pattern, others] of Object.entries(names))
    for (const name of others)
      for (const entry of [name, ` ${name}\n`, `${name}(*)`, `${name}(:*)`, `${name}( * )`])
        assert.deepEqual(readAllowedEntry(entry), { kind: 'name', pattern }, entry);
});

test('T5 an entry with a limit is a rule for commands, for own scripts, or says why it grants nothing', () => {
  const unenforceable: readonly (readonly [string, RegExp])[] = [
    ['', /not a tool name/],
    ['  ', /not a tool name/],
    ['(x)', /not a tool name/],
    ['Bash(a', /not a tool name/],
    ['Bash(a) b', /not a tool name/],
    ['x Bash(a)b(c)', /only Bash/],
    ['Read(src/**)', /only Bash/],
    ['Read()', /only Bash/],
    ['Bash()', /not one simple command/],
    ['Bash(a; b)', /not one simple command/],
    ['Bash(*)x', /not a tool name/],
    ['Bash(* x)', /begins with \*/],
    ['Bash(*x)', /begins with \*/],
    ['Bash(a\ua66e)', /not understood/],
  ];
  for (const [entry, why] of unenforceable) {
    const read = readAllowedEntry(entry);
    assert.equal(read.kind, 'unenforceable', entry);
    assert.match('reason' in read ? read.reason : '', why, entry);
  }
  for (const place of ['{baseDir}', '${CLAUDE_SKILL_DIR}', '${CLAUDE_PLUGIN_ROOT}', '<skill_dir>'])
    assert.deepEqual(readAllowedEntry(`Bash(python ${place}/a.py:*)`), { kind: 'script' });
  const commands: readonly (readonly [string, readonly string[], boolean])[] = [
    ['Bash(git)', ['git'], false],
    ['Bash( git log )', ['git', 'log'], false],
    ['Bash(git log:*)', ['git', 'log'], true],
    ['Bash(git log *)', ['git', 'log'], true],
    ['Bash(git *log)', ['git', '*log'], false],
    ['Bash(git * log *)', ['git', '*', 'log'], true],
    ["Bash(echo 'a b':*)", ['echo', 'a b'], true],
    ['Bash(git log\t*)', ['git', 'log'], true],
    ['Shell(make all)', ['make', 'all'], false],
  ];
  for (const [entry, words, mayEnd] of commands)
    assert.deepEqual(
      readAllowedEntry(entry),
      { kind: 'command', pattern: { written: words.join(' '), words, mayEnd } },
      entry,
    );
});

test('T5 a * covers any text in its place, each piece after the one before it', () => {
  const cases: readonly (readonly [words: string, command: string, covered: boolean])[] = [
    ['a *b*c', 'a bc', true],
    ['a *b*c', 'a xbxbxc', true],
    ['a *b*c', 'a cb', false],
    ['a *b*b', 'a b', false],
    ['a *bb*bb', 'a bbb', false],
    ['a *bb*bb', 'a bbbb', true],
    ['a *xy*xy*z', 'a xyxyz', true],
    ['a *xy*xy*z', 'a xyz', false],
    ['a b*', 'a b', true],
    ['a b', 'a bc', false],
    ['run dir/*', 'run dir/x/../y', false],
    ['run dir/*', 'run dir/x..y', true],
    ['run d*r', 'run ../d/r', false],
    ['run *r', 'run ../r', true],
  ];
  for (const [words, command, covered] of cases)
    for (const mayEnd of [true, false])
      assert.equal(
        coversCommand({ written: words, words: words.split(' '), mayEnd }, command.split(' ')),
        covered || (mayEnd && `${command} `.startsWith(`${words} `)),
        `${words}: ${command}`,
      );
  const open = { written: 'a b', words: ['a', 'b'], mayEnd: true };
  assert.equal(coversCommand(open, ['a', 'b', 'c', 'd']), true);
  assert.equal(coversCommand(open, ['a', 'bc']), false);
  assert.equal(coversCommand(open, ['a']), false);
});

test('U8 an entry names something elsewhere if a tool of that name exists, and none of those offered', () => {
  const entries = ['Read', 'web_*', 'nonsense', 'mcp_mail_*', 'Bash(git:*)', 'Read(x)', 'zz_*', 'skill_*'];
  const elsewhere = ['mcp_mail_send'];
  assert.deepEqual(namedElsewhere(entries, ['read_file'], { elsewhere, builtInTools }), [
    'web_*',
    'mcp_mail_*',
    'Bash(git:*)',
  ]);
  assert.deepEqual(namedElsewhere(entries, ['read_file'], { builtInTools }), ['web_*', 'Bash(git:*)']);
  assert.deepEqual(
    namedElsewhere(entries, [...builtInTools.names(), ...elsewhere], { elsewhere, builtInTools }),
    [],
  );
  assert.deepEqual(namedElsewhere([], ['read_file'], { builtInTools }), []);
  assert.deepEqual(knownTools(['bash', 'own_tool'], builtInTools), [...builtInTools.names(), 'own_tool']);
});

test('T5 a list holds by name what it writes out, not what its globs and rules for commands mean', () => {
  const names = ['bash', 'read_file', 'web_fetch', 'web_search'];
  assert.deepEqual(namesListed(['web_*', 'Read', 'Bash(git:*)', 'WebSearch', 'Write'], names), [
    ...['read_file', 'web_search'],
  ]);
  assert.deepEqual(namesListed(['Bash', '*'], names), ['bash']);
  assert.deepEqual(
    [namesListed(undefined, names), namesListed([], names), namesListed(['*'], [])],
    [[], [], []],
  );
});

test('T5 unknown entries are told with a code and why, known ones are not, of plugins and servers neither', () => {
  const entries = ['bash', 'own_tool', 'nonsense', 'Read(x)', 'web_*', 'zz_*', 'Bash(git:*)'];
  const told = unknownEntries(entries, ['own_tool'], builtInTools);
  assert.deepEqual(
    told.map(({ code, message }) => [code, /^allowed_tools: (\S+) grants nothing: /.exec(message)?.[1]]),
    ['nonsense', 'Read(x)', 'zz_*'].map((entry) => ['ALLOWED_TOOLS_UNKNOWN', entry]),
  );
  assert.match(told[0]?.message ?? '', /no tool is called that$/);
  assert.match(told[1]?.message ?? '', /only Bash/);
  const made = parseAllowedTools(['bash', 'web_search'], host, plain);
  assert.deepEqual(
    made.warnings.map(({ code, message }) => [code, /: (web_search) .*to (runs)$/.exec(message)?.slice(1)]),
    [['ALLOWED_TOOLS_NOT_OFFERED', ['web_search', 'runs']]],
  );
});

test('T5 a list is for single commands only if it has a shell and no rule leaves bash open', () => {
  const cases: readonly (readonly [
    list: readonly string[] | undefined,
    simple: boolean,
    scripts: boolean,
  ])[] = [
    [undefined, false, true],
    [[], false, true],
    [['Bash'], false, true],
    [['Bash(git:*)'], true, true],
    [['Bash(git:*)', 'Read'], true, true],
    [['Bash(git:*)', 'Bash(*)'], false, true],
    [['Bash(git:*)', 'b*'], false, true],
    [['b*'], false, true],
    [['Bash({baseDir}/a.sh:*)'], true, true],
    [['Bash({baseDir}/a.sh:*)', 'Bash'], false, true],
    [['skills_run_script'], false, true],
    [['skills_*'], false, true],
    [['Read'], false, false],
    [['Read', 'web_*'], false, false],
    [['Read(x)', 'nonsense'], false, false],
    [['Read', 'Bash(a; b)'], false, false],
  ];
  for (const [list, simple, scripts] of cases) {
    assert.equal(allowsSimpleOnly(list), simple, JSON.stringify(list));
    assert.equal(listRunsScripts(list), scripts, JSON.stringify(list));
  }
});

test('T5 a list that names nothing says each reason once, what was written and what there is', () => {
  const refused = parseAllowedTools(['Read(x)', 'Write(y)', 'Bash(a; b)', 'nonsense'], host, plain);
  assert.ok(!refused.ok);
  const [found, here] = refused.message.split('. Tools here: ');
  assert.equal(here, host.join(', '));
  assert.match(
    found ?? '',
    /: Read\(x\), Write\(y\), Bash\(a; b\), nonsense \(only Bash[^;]*; it is not one simple command[^]*\)$/,
  );
  assert.equal(refused.warnings.length, 4);
  const unknown = parseAllowedTools(['nonsense'], host, plain);
  assert.ok(!unknown.ok && unknown.message.includes(': nonsense. Tools here: '), 'no empty reason');
});

test('T5 a limit on commands allows what any of its rules covers or starts an own script, in text alone', () => {
  const startsOwnScript = (command: string): boolean => command === 'run.sh';
  const made = parseAllowedTools(['Bash(git log:*)', 'Bash(make)'], host, { ...plain, startsOwnScript });
  assert.ok(made.ok);
  assert.deepEqual(made.commands, ['git log', 'make', 'a script of this skill']);
  for (const [input, allowed] of [
    [{ command: 'git log -1' }, true],
    [{ command: 'make' }, true],
    [{ command: 'run.sh' }, true],
    [{ command: 'run.sh x' }, false],
    [{ command: 'make all' }, false],
    [{ command: ['make'] }, false],
    ['make', false],
    [undefined, false],
    [null, false],
  ] as const)
    assert.equal(made.allows('bash', input), allowed, JSON.stringify(input));
  assert.ok(made.allows('skills_run_script', {}) && !made.allows('web_fetch', {}));
  const without = parseAllowedTools(['Bash(make)'], ['bash', 'skills_read_file'], {
    ...plain,
    startsOwnScript,
  });
  assert.ok(without.ok);
  assert.deepEqual(without.commands, ['make'], 'a run without the tool for scripts starts none');
  assert.equal(without.allows('bash', { command: 'run.sh' }), false);
  const noShell = parseAllowedTools(['Bash(make)', 'Read'], ['read_file', 'skills_read_file'], plain);
  assert.ok(noShell.ok);
  assert.equal(noShell.commands, undefined, 'without bash there is nothing to limit');
});

test('T5 a refused call says what is allowed: the commands, what is disallowed, or which tools there are', () => {
  const tools = ['bash', 'read_file'].map((name) => ({ name }));
  const told = (name: string, allowed: Parameters<typeof notAllowed>[2], offered = tools) => {
    const { ok, errors } = notAllowed(name, offered, allowed);
    assert.deepEqual([ok, errors.map(({ code }) => code)], [false, ['TOOL_NOT_ALLOWED']]);
    return errors[0]?.message ?? '';
  };
  const all = allToolsAllowed(['read_file', 'bash', 'web_fetch']);
  const limited = { names: ['bash', 'read_file'], commands: ['git log', 'make'] };
  assert.match(told('bash', limited), /^bash takes .*: git log \| make \(/);
  const minus = withoutDisallowed(all, ['Bash(git:*)']);
  assert.match(told('bash', minus), /^the skill disallows this call of bash\./);
  assert.match(
    told('web_fetch', all),
    /^"web_fetch" is no tool .*Available: bash, read_file$/,
    'not offered',
  );
  assert.match(told('a\nb"', limited), /^"a b\\"" is no tool .*Available: bash, read_file$/);
  assert.match(told('bash', all, []), /Available: none$/);
});
