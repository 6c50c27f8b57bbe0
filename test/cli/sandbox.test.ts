import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { aptSources } from '../../src/sandbox/packages/root-recipe.ts';
import { withShell } from '../support/stand-in-root-tool.ts';
import { openCliHome } from '../support/run-cli.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';

/** In mmdebstrap's place: a tiny tree with what was asked for, and a note of how it was called. */
const standIn = `#!/bin/sh
set -eu
NOTES=$(dirname "$0")/../notes
[ ! -f "$NOTES/fail" ] || { echo "E: Unable to locate package $(cat "$NOTES/fail")" >&2; exit 25; }
printf '%s\\n' "$@" > "$NOTES/arguments"
cat > "$NOTES/sources"
tree=$(mktemp -d)
mkdir -p "$tree/var/lib/dpkg"
${withShell}
for each in "$@"; do case $each in --include=*) names=\${each#--include=} ;; esac; done
echo "I: running apt-get update..." >&2
echo "Reading package lists..." >&2
IFS=,
for name in $names; do
  printf 'Package: %s\\nStatus: install ok installed\\n\\n' "$name" >> "$tree/var/lib/dpkg/status"
  echo "Setting up $name (1) ..." >&2
done
tar --create --directory="$tree" .
rm -r "$tree"
`;
const asRoot = process.getuid?.() === 0 ? false : 'the tool of an ordinary user asks for subordinate ids';
const hasSources = canBuild() ? false : 'this system has no apt sources';
const skip = asRoot || hasSources || bubblewrapHere.skip;

test(
  'L1 L9 R6 sandbox build tells each step, status and skill list tell what is missing and then what is there',
  { skip },
  async (t) => {
    const { run, runAlone, notes, write } = await open(t);
    await write('workspace/skills/parcels.md', skillText('parcels', 'skillet-scales, jq'));
    await write('workspace/skills/off.md', skillText('off', 'skillet-other'));
    await write('config.toml', '[skills.off]\nenabled = false\n');

    const before = await run(['sandbox', 'status', '--json']);
    assert.equal(before.code, 1);
    const { mode, limits, rootFileSystem, skills } = JSON.parse(before.stdout) as Status;
    assert.match(limits, /enforce/, 'it says which limits the kernel enforces');
    assert.deepEqual([mode, rootFileSystem], ['bubblewrap', null]);
    assert.equal(skills[0]?.missing.includes('skillet-scales'), true);
    assert.match(skills[0].command ?? '', /^skillet sandbox build$/);
    assert.match(
      (await run(['skill', 'list'])).stdout,
      /unavailable: lacks .*skillet-scales; do this: skillet sandbox build/,
    );

    const built = await runAlone(['sandbox', 'build']);
    assert.equal(built.code, 0, built.stderr);
    assert.match(built.stderr, /^I: running apt-get update\.\.\.\n.*Setting up skillet-scales \(1\)/s);
    assert.doesNotMatch(built.stderr, /Reading package lists/);
    assert.match(built.stdout, /is built \(.*with jq, skillet-scales\)/);
    const given = (await readFile(path.join(notes, 'arguments'), 'utf8')).split('\n');
    assert.ok(
      given.includes('--include=ca-certificates,jq,libstdc++6,python3,skillet-scales'),
      String(given),
    );
    assert.equal(await readFile(path.join(notes, 'sources'), 'utf8'), `${aptSources().lines.join('\n')}\n`);

    const after = await run(['sandbox', 'status', '--json']);
    assert.equal(after.code, 0);
    const now = JSON.parse(after.stdout) as Status;
    assert.deepEqual([now.packagesFrom, now.rootFileSystem?.current], ['root', true]);
    assert.deepEqual(now.skills, [
      {
        skill: 'parcels',
        packages: ['skillet-scales', 'jq'],
        programs: [],
        missing: [],
        python: [],
        env: [],
      },
    ]);
    const again = JSON.parse((await run(['sandbox', 'build', '--json'])).stdout) as { status: string };
    assert.equal(again.status, 'kept');
  },
);

test(
  'L1 R6 a package that does not exist fails the build with the skill and the fix, and exit code 1',
  { skip },
  async (t) => {
    const { run, notes, write } = await open(t);
    await write('workspace/skills/parcels.md', skillText('parcels', 'skillet-scales'));
    await writeFile(path.join(notes, 'fail'), 'skillet-scales');
    const failed = await run(['sandbox', 'build']);
    assert.equal(failed.code, 1);
    assert.match(
      failed.stderr,
      /no package skillet-scales in \w+, which parcels asks for.*\[skills\.parcels\] enabled = false/,
    );
  },
);

type Status = {
  mode: string;
  limits: string;
  packagesFrom: string;
  rootFileSystem: { current?: boolean } | null;
  skills: { skill: string; missing: string[]; command?: string }[];
};

function skillText(name: string, packages: string): string {
  return `---\nname: ${name}\ndescription: Does something.\npackages: [${packages}]\n---\nDo it.\n`;
}

async function open(t: TestContext) {
  const home = await openCliHome(t);
  const notes = path.join(home.folder, 'notes');
  for (const name of ['notes', 'bin', 'workspace/skills'])
    await mkdir(path.join(home.folder, name), { recursive: true });
  const program = path.join(home.folder, 'bin/mmdebstrap');
  await writeFile(program, standIn);
  await chmod(program, 0o755);
  const env = { PATH: `${path.dirname(program)}:${process.env['PATH'] ?? ''}` };
  return {
    ...home,
    notes,
    run: (args: readonly string[]) => home.run(args, { env }),
    runAlone: (args: readonly string[]) => home.runAlone(args, { env }),
  };
}

function canBuild(): boolean {
  try {
    return aptSources().lines.length > 0;
  } catch {
    return false;
  }
}
