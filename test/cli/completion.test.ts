import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { findProgram } from '../../src/sandbox/inside-sandbox.ts';
import { openCliHome } from '../support/run-cli.ts';

/** What bash would offer for lines whose last word is being typed. */
function offered(script: string, lines: readonly string[]): readonly (readonly string[])[] {
  const asks = lines.map((line) => {
    const words = line.split(' ');
    return `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_skillet; echo "\${COMPREPLY[*]}"`;
  });
  const said = execFileSync('bash', ['--norc'], {
    encoding: 'utf8',
    input: `${script}\n${asks.join('\n')}\n`,
  });
  return said
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.split(' '));
}

test('L1 bash completes every command, option and choice of the table', async (t) => {
  const { run } = await openCliHome(t);
  const { stdout: script, code } = await run(['completion', 'bash']);
  assert.equal(code, 0);
  const lines: readonly (readonly [string, readonly string[]])[] = [
    ['skillet doc', ['doctor']],
    ['skillet pair app', ['approve']],
    ['skillet doctor --o', ['--online']],
    ['skillet audit tail --j', ['--json']],
    ['skillet chat --as g', ['group']],
    // Left to the shell: a file.
    ['skillet start --config ', ['']],
  ];
  assert.deepEqual(
    offered(
      script,
      lines.map(([line]) => line),
    ),
    lines.map(([, words]) => words),
  );
  const [first = []] = offered(script, ['skillet ']);
  const seconds = offered(
    script,
    commands.map(({ name }) => `skillet ${name.split(' ')[0]} `),
  );
  const flags = offered(
    script,
    commands.map(({ name }) => `skillet ${name} -`),
  );
  for (const [at, { name, options }] of commands.entries()) {
    const [group = '', second] = name.split(' ');
    assert.ok(first.includes(group), name);
    if (second !== undefined) assert.ok(seconds[at]?.includes(second), name);
    for (const option of Object.keys(options))
      assert.ok(flags[at]?.includes(`--${option}`), `${name} ${option}`);
  }
});

test('L1 zsh and fish get the same table; another shell is refused', async (t) => {
  const { run } = await openCliHome(t);
  const zsh = (await run(['completion', 'zsh'])).stdout;
  assert.match(zsh, /^#compdef skillet\n/);
  assert.match(zsh, /bashcompinit/);
  const fish = (await run(['completion', 'fish'])).stdout;
  for (const { name, options } of commands) {
    const word = name.split(' ').at(-1);
    assert.match(fish, new RegExp(`-a ${word} -d '`), name);
    for (const option of Object.keys(options)) assert.match(fish, new RegExp(` -l ${option}( |$)`), option);
  }
  assert.match(fish, /-l as -x -a 'private group channel'/);
  const other = await run(['completion', 'tcsh']);
  assert.deepEqual([other.code, other.stderr], [1, 'Write one of these: bash, zsh, fish.\n']);
});

const notHere = (shell: string): string | false =>
  findProgram(shell, process.env['PATH'] ?? '') === undefined &&
  `${shell} is not installed: apt-get install ${shell}`;

test('L1 fish itself completes commands, options and choices', { skip: notHere('fish') }, async (t) => {
  const script = (await (await openCliHome(t)).run(['completion', 'fish'])).stdout;
  const offers = (line: string): readonly string[] =>
    execFileSync('fish', ['--no-config', '-c', `${script}\ncomplete --do-complete '${line}'`], {
      encoding: 'utf8',
    })
      .trimEnd()
      .split('\n')
      .map((each) => each.split('\t')[0] ?? '');
  assert.deepEqual(offers('skillet doc'), ['doctor']);
  assert.ok(offers('skillet pair ').includes('approve'));
  assert.ok(offers('skillet doctor --').includes('--online'));
  assert.deepEqual(offers('skillet chat --as g'), ['group']);
});

test('L1 zsh itself completes commands, options and choices', { skip: notHere('zsh') }, async (t) => {
  const home = await openCliHome(t);
  const file = await home.write('completion.zsh', (await home.run(['completion', 'zsh'])).stdout);
  // Zsh completes at a terminal only: one zsh types into another.
  const typed = (line: string, wanted: string): string =>
    execFileSync('zsh', ['-f'], {
      encoding: 'utf8',
      timeout: 60_000,
      env: { ...process.env, TERM: 'dumb' },
      input: `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'autoload -Uz compinit && compinit -u -D && source ${file}; PS1= ; unsetopt zle_bracketed_paste; print re""ady'
zpty -r shell said '*ready*'
zpty -n -w shell $'${line}\\t'
zpty -r shell said '*${wanted}*'
print -r -- "$said"
`,
    });
  assert.match(typed('skillet docto', 'doctor'), /skillet doctor/);
  assert.match(typed('skillet pair app', 'approve'), /pair approve/);
  assert.match(typed('skillet doctor --onl', '--online'), /--online/);
  assert.match(typed('skillet chat --as gr', 'group'), /--as group/);
});

test('L1 a command that is nearly right is named', async (t) => {
  const { run } = await openCliHome(t);
  const first = await run(['docter']);
  assert.equal(first.code, 2);
  assert.match(first.stderr, /Did you mean doctor\?/);
  const second = await run(['pair', 'lsit']);
  assert.equal(second.code, 2);
  assert.match(second.stderr, /Did you mean list\?/);
  const option = await run(['doctor', '--onlin']);
  assert.match(option.stderr, /Did you mean --online\?/);
});
