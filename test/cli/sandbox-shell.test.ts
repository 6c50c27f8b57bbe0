import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../src/sandbox/inside-sandbox.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { openCliHome } from '../support/run-cli.ts';
import { isRunning } from '../support/sandbox-limits-contract.ts';
import { noTerminal, openTerminal, withSkill } from '../support/shell-at-terminal.ts';
import { until } from '../support/until.ts';

const skip = noTerminal !== false ? noTerminal : bubblewrapHere.skip;

test(
  'R6 L1 sandbox shell: a person looks around in what the scripts of a skill see, with job control and their environment',
  { skip },
  async (t) => {
    const home = await withSkill(t);
    const shell = await openTerminal(t, home, ['sandbox', 'shell', 'parcels']);
    await shell.until(
      /sandbox bubblewrap: \/skill \(.*, read-only\), \/scratch.*network: a\.test; environment: PARCELS_KEY\r\n[^]*sandbox:\S+\$ /,
    );
    await shell.ask('pwd; ls -d /*; cat /skill/SKILL.md', /\/scratch\r\n[^]*\/skill[^]*name: parcels/);
    await shell.ask('touch /skill/x || echo "key $PARCELS_KEY"', /Read-only file system[^]*key k-12/);
    await shell.ask(
      'ls -A; id -un; echo data > kept.txt; test -t 0 && echo terminal',
      /skillet\r\n[^]*terminal/,
    );
    // Keys reach what runs in the foreground, and neither the shell nor the command line.
    shell.type('sleep 66.219\n');
    await until(() => isRunning('sleep\u000066.219'));
    shell.type('\x03');
    await shell.until(/sandbox:\S+\$ /);
    await shell.ask('echo "ended by $?"', /ended by 130/);
    await shell.ask('sleep 67.219 & jobs; kill %1', /\[1\]\+ +Running/);
    assert.equal(await shell.end('exit 7'), 7);
    assert.deepEqual(await readdir(path.join(home.folder, 'workspace/runs')), []);
  },
);

test('T9 sandbox shell: nothing in it can type on the terminal of the person', { skip }, async (t) => {
  const home = await openCliHome(t);
  const shell = await openTerminal(t, home, ['sandbox', 'shell']);
  await shell.until(/sandbox:\S+\$ /);
  if (findProgram('perl', '/usr/bin') === undefined) return t.skip('needs perl');
  await shell.ask(
    `perl -e '$x = "x"; print ioctl(STDIN, 0x5412, $x) ? "typed" : "refused: $!"'`,
    /refused: Operation not permitted/,
  );
  assert.equal(await shell.end('exit'), 0);
});

test(
  'R6 sandbox shell: what takes too many processes ends the shell, and the reason is said',
  { skip },
  async (t) => {
    const home = await openCliHome(t);
    await home.write('config.toml', '[sandbox]\nprocesses = 20\n');
    const shell = await openTerminal(t, home, ['sandbox', 'shell']);
    await shell.until(/sandbox:\S+\$ /);
    assert.equal(await shell.end('for i in $(seq 40); do sleep 60 & done; wait'), 1);
    assert.match(shell.seen(), /it met the limit of processes/);
  },
);

test('R6 L1 sandbox shell: without a terminal, a skill or programs it is refused with what to do', async (t) => {
  const home = await withSkill(t);
  const piped = await home.run(['sandbox', 'shell']);
  assert.deepEqual([piped.code, piped.stdout], [1, '']);
  assert.match(piped.stderr, /needs a terminal/);
  if (noTerminal !== false) return t.diagnostic(noTerminal);
  const unknown = await openTerminal(t, home, ['sandbox', 'shell', 'parcel']);
  assert.equal(await unknown.ended, 1);
  assert.match(unknown.seen(), /There is no skill "parcel"\. Near: parcels/);
  await home.write('config.toml', '[sandbox]\nmode = "virtual"\n');
  const virtual = await openTerminal(t, home, ['sandbox', 'shell']);
  assert.equal(await virtual.ended, 1);
  assert.match(virtual.seen(), /apt-get install bubblewrap/);
});
