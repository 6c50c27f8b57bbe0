/**
 * The long test of `skillet sandbox build` (R6): `npm run test:sandbox-build`, about four minutes. Builds root file systems
 * from this system's own apt sources, with a package that a skill declares, and has a script of that skill use it in the
 * sandbox. As root also as the user that `SKILLET_BUILD_AS` names. Prints a line a build, exits 1 when one fails, and says what
 * is absent where it can't try.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { OperatorError } from '../../src/core/errors.ts';
import { aptSources } from '../../src/sandbox/packages/root-recipe.ts';
import { findProgram } from '../../src/sandbox/inside-sandbox.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { cliPath } from '../support/cli-path.ts';

type Case = Readonly<{ user?: string }>;
type Said = Readonly<{ code: number | null; stdout: string; stderr: string }>;

const searched = '/usr/sbin:/usr/bin:/sbin:/bin';
const isRoot = process.getuid?.() === 0;

const absent = whatIsAbsent();
if (absent !== undefined) say(`skipped: ${absent}`);
else for (const each of cases()) await build(each);

function whatIsAbsent(): string | undefined {
  if (bubblewrapHere.skip !== false) return bubblewrapHere.skip;
  if (findProgram('mmdebstrap', searched) === undefined) return 'mmdebstrap is not installed';
  try {
    aptSources();
    return undefined;
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
}

function cases(): readonly Case[] {
  const user = process.env['SKILLET_BUILD_AS'];
  if (isRoot && user === undefined) say('skipped: as an ordinary user, as SKILLET_BUILD_AS names none');
  return isRoot && user !== undefined ? [{}, { user }] : [{}];
}

/** Builds, and carries out the skill's own test case: through the agent, the sandbox and the tree to the package. */
async function build({ user }: Case): Promise<void> {
  const who = `as ${user ?? userInfo().username}`;
  const home = mkdtempSync(path.join(tmpdir(), 'skillet-build-'));
  const began = performance.now();
  try {
    fill(home);
    if (user !== undefined) spawnSync('chown', ['-R', `${user}:`, home]);
    const run = (...args: readonly string[]): Promise<Said> => skillet(args, { home, user });
    const built = await run('sandbox', 'build', '--json');
    if (/could not be reached/.test(built.stderr))
      return say(`skipped: ${who}: the mirror of packages can't be reached`);
    if (built.code !== 0) return fail(who, built);
    const { bytes } = JSON.parse(built.stdout) as { bytes: number };
    const seconds = Math.round((performance.now() - began) / 1_000);
    const status = await run('sandbox', 'status');
    if (status.code !== 0 || !/skill parcels: has jq/.test(status.stdout))
      return fail(`${who}: status`, status);
    const asked = await run('skill', 'test', 'parcels');
    if (asked.code !== 0) return fail(`${who}: the script`, asked);
    const again = await run('sandbox', 'build');
    if (!/already/.test(again.stdout)) return fail(`${who}: a second build`, again);
    say(`ok: ${who}: ${Math.round(bytes / 1e6)} MB in ${seconds} s, and jq answered a script`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** A workspace with one skill. */
function fill(home: string): void {
  const skill = path.join(home, 'workspace/skills/parcels');
  for (const each of ['scripts', 'tests']) mkdirSync(path.join(skill, each), { recursive: true });
  const files = {
    'SKILL.md':
      '---\nname: parcels\ndescription: Weighs parcels together.\npackages: [jq]\n---\nRun scripts/weigh.sh.\n',
    'scripts/weigh.sh': `command -v jq && printf '{"parcels":[{"kg":17},{"kg":25}]}' | jq '[.parcels[].kg] | add'\n`,
    'tests/weighs.toml':
      '[[case]]\nmessage = "/parcels now"\nskill = "parcels"\nstatus = "ok"\nmust_call = ["skills_run_script"]\n[case.result]\ncontains = ["/usr/bin/jq", "42"]\n',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(skill, name), content);
  chmodSync(home, 0o755);
}

/** A command line of its own home. */
async function skillet(
  args: readonly string[],
  { home, user }: Readonly<{ home: string; user: string | undefined }>,
): Promise<Said> {
  const [program = process.execPath, ...rest] = [
    ...(user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups']),
    ...[process.execPath, cliPath, ...args],
  ];
  const child = spawn(program, rest, {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(what: string, { code, stdout, stderr }: Said): void {
  say(`failed: ${what} (exit code ${code})\n${stdout.slice(-2_000)}\n${stderr.slice(-4_000)}`);
  process.exitCode = 1;
}
