import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Envelope } from '../../src/core/envelope.ts';
import { createBubblewrapSandbox } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { createOffSandbox } from '../../src/sandbox/off.ts';
import type { Sandbox, SandboxRequest } from '../../src/sandbox/sandbox.ts';
import { createScriptPackages } from '../../src/sandbox/packages/script-packages.ts';
import { bashTool } from '../../src/tools/built-in/bash.ts';
import { skillsRunScriptTool, toolPackages } from '../../src/tools/built-in/skills-run-script.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { makeSkill } from '../support/make-skill.ts';
import { toolContext } from '../support/tool-context.ts';

const limits = { memoryMb: 512, cpuSeconds: 20, processes: 64, diskMb: 64 };
const { bwrap, skip } = bubblewrapHere;
/**
 * In uv's place, which tests can't install: fetching notes how it was called in its cache, running tells what it finds
 * there and how it was called itself, then runs the script.
 */
const standIn = `#!/bin/sh
said="$(basename "$0") $*"
tell() { env | grep -E '^(UV_|TOKEN)' | sort | tr '\\n' ' '; ls "$HOME" | tr '\\n' ' '; }
case "$said" in
  "uv sync"*|*--help|*"python -c pass")
    grep -q -e unknown-package -- "$(eval echo "\\$$#")" 2>/dev/null && { echo "no version of unknown-package" >&2; exit 2; }
    { echo "fetched by: $said"; tell; echo; } > "$UV_CACHE_DIR/record" ;;
  *)
    cat "$UV_CACHE_DIR/record"
    echo "run by: $said"; tell; echo
    echo "a word left" >> "$UV_CACHE_DIR/record"
    while [ "$1" != --script ] && [ $# -gt 1 ]; do shift; done
    if [ "$1" = --script ]; then shift; exec python3 "$@"; fi ;;
esac
`;
const header = '# /// script\n# dependencies = ["requests"]\n# ///\n';

test(
  'R7 a Python script that lists its packages has them fetched apart, then runs offline by uv with its own rules',
  { skip },
  async (t) => {
    const { run, requests, put } = await open(t, 'auto');
    put('scripts/page.py', `${header}import sys\nprint("script says", *sys.argv[1:])\n`);
    const text = told(await run('scripts/page.py', ['a b', '$HOME']));
    assert.match(text, /fetched by: uv sync --quiet --script \/skill\/scripts\/page\.py/);
    assert.match(text, /run by: uv run --offline --quiet --script \/skill\/scripts\/page\.py a b \$HOME/);
    assert.match(text, /script says a b \$HOME/);
    const [fetched = '', ran = ''] = text.split('run by:');
    for (const setting of ['UV_CACHE_DIR=/scratch/.uv', 'UV_NO_CONFIG=1', 'UV_PYTHON_DOWNLOADS=never']) {
      assert.ok(fetched.includes(setting) && ran.includes(setting), setting);
    }
    assert.ok(!fetched.includes('TOKEN'), 'fetching has none of the environment of the skill');
    assert.ok(ran.includes('TOKEN=[redacted TOKEN]'));
    assert.ok(!fetched.includes('left-by-run.txt'), 'fetching has a scratch folder of its own');
    assert.ok(ran.includes('left-by-run.txt'));
    const [fetch, script] = requests;
    assert.deepEqual([fetch?.network, fetch?.chat], [['pypi.example'], undefined]);
    assert.deepEqual(script?.network, ['api.example']);
  },
);

test(
  'R7 packages are fetched once for the same content of a skill, and no run sees what another wrote',
  { skip },
  async (t) => {
    const { run, requests, put, scratch } = await open(t, 'auto');
    put('scripts/page.py', `${header}print("fine")\n`);
    const first = told(await run('scripts/page.py'));
    const second = told(await run('scripts/page.py'));
    assert.deepEqual([first.includes('a word left'), second.includes('a word left')], [false, false]);
    assert.equal(requests.length, 3, 'one fetch, two runs');
    assert.deepEqual(readdirSync(scratch), ['left-by-run.txt']);
    put('references/notes.md', 'another byte');
    await Promise.all([run('scripts/page.py'), run('scripts/page.py')]);
    assert.equal(requests.length, 6, 'another content: one fetch more, for two at a time');
  },
);

test(
  'R7 a tool in the first line is run by uvx, fetched by asking it for help; plain Python stays plain',
  { skip },
  async (t) => {
    const { run, put, requests } = await open(t, 'auto');
    put('scripts/check.txt', '#!/usr/bin/env -S uvx --from ruff==0.9 ruff check\n');
    const text = told(await run('scripts/check.txt', ['--fix']));
    assert.match(text, /fetched by: uvx --quiet --from ruff==0\.9 ruff check --help/);
    assert.match(
      text,
      /run by: uvx --offline --quiet --from ruff==0\.9 ruff check \/skill\/scripts\/check\.txt --fix/,
    );
    put('scripts/plain.py', 'print("plain")\n');
    assert.equal(told(await run('scripts/plain.py')).trim(), 'plain');
    assert.deepEqual(requests.at(-1)?.argv.slice(0, 1), ['python3']);
  },
);

test(
  'R7 uvx in a command has the tools fetched that the SKILL.md calls in the same words, and runs offline',
  { skip },
  async (t) => {
    const { bash, put, requests } = await open(t, 'auto');
    put(
      'SKILL.md',
      'First `uvx ruff check .`, then:\n\n    uvx --from "black==26.1" black .\n    uvx https://x.example/r\n',
    );
    const text = told(await bash('cd /skill && uvx ruff check "$PWD"; echo done'));
    assert.match(text, /fetched by: uvx --quiet ruff --help/);
    assert.match(text, /run by: uvx ruff check \/skill\n/);
    const [fetched = '', ran = ''] = text.split('run by:');
    assert.ok(!/UV_OFFLINE|TOKEN/.test(fetched), 'fetching has the network, and nothing of the skill');
    assert.ok(ran.includes('UV_OFFLINE=1') && ran.includes('TOKEN=[redacted TOKEN]'));
    assert.match(ran, /done\s*$/);
    assert.deepEqual(
      requests.map(({ network }) => network),
      [['pypi.example'], ['api.example']],
    );
    const both = told(await bash("uvx --from 'black==26.1' black . | cat; uvx ruff --version"));
    assert.match(both, /fetched by: uvx --quiet ruff --help/);
    assert.equal(requests.length, 4);
    for (const other of [
      'uvx rufff check',
      'uvx --from evil ruff',
      'uvx ruff@latest',
      'uvx https://x.example/r',
    ])
      assert.match((await bash(other)).errors[0]?.message ?? '', /uvx is not there/, other);
    assert.equal(requests.length, 8, 'nothing is fetched for what the SKILL.md does not call');
  },
);

test(
  'R7 uv run --with in a command has the packages fetched that the SKILL.md names so, for whatever it then runs',
  { skip },
  async (t) => {
    const { bash, put, requests } = await open(t, 'auto');
    put(
      'SKILL.md',
      'Try `uv run --with rich python -c "print(1)"`, or\n\n    uv run -q --with=pypdf --with "rich>=13" page.py\n',
    );
    const text = told(await bash(`uv run --no-project --with rich python -c 'print(2)'`));
    assert.match(text, /fetched by: uv run --quiet --no-project --with rich python -c pass/);
    assert.match(text, /run by: uv run --no-project --with rich python -c print\(2\)/);
    assert.ok(text.split('run by:')[1]?.includes('UV_OFFLINE=1'));
    const other = told(
      await bash('echo "print(3)" > own.py && uv run --with pypdf --with "rich>=13" own.py'),
    );
    assert.match(
      other,
      /fetched by: uv run --quiet --no-project --with pypdf --with rich>=13 python -c pass/,
    );
    assert.equal(requests.length, 4);
    for (const [command, how] of [
      [
        'uv run --with evil python -c 1',
        /Write python3 in the place of uv run, which imports evil if the system has it\. From PyPI/,
      ],
      [
        'uv run --with pyyaml x.py',
        /imports pyyaml .*\(the operator: apt-get install python3-yaml\)\. From PyPI/,
      ],
      ['uv run --with rich --with-requirements r.txt x.py', /imports rich/],
      [
        'uv run --with rich --index-url https://x.example x.py',
        /From PyPI comes only what the SKILL\.md itself calls/,
      ],
      ['uv run x.py', /Write python3 in the place of uv run\. From PyPI/],
    ] as const)
      assert.match((await bash(command)).errors[0]?.message ?? '', how, command);
    assert.ok(!requests.slice(4).some(({ network }) => network?.includes('pypi.example')));
  },
);

test(
  'R7 without uv a script whose list the system has is run by python3; else the answer names what is missing',
  { skip },
  async (t) => {
    const { run, put } = await open(t, 'auto', { searchPath: '/nowhere' });
    const listing = (list: string): string =>
      `# /// script\n# requires-python = ">=3.9"\n# dependencies = [${list}]\n# ///\nimport sys\nprint("ran", *sys.argv[1:])\n`;
    put(
      'scripts/page.py',
      listing('\n#   "PyYAML>=6",\n#   \'requests-of-system[socks]==2 ; python_version > "3"\',\n# ').replace(
        'PyYAML',
        'pyyaml',
      ),
    );
    assert.match(told(await run('scripts/page.py', ['a b'])), /^ran a b/);
    for (const [list, how] of [
      [
        '"pyyaml", "requests"',
        /Without uv it runs once the system has what it lists: apt-get install python3-requests$/,
      ],
      ['"pyyaml", "no-such-thing"', /install\.sh \| sh"$/],
      ['"pyyaml @ https://x.example/y.whl"', /it takes uv/],
    ] as const) {
      put('scripts/page.py', listing(list));
      const { errors } = await run('scripts/page.py');
      assert.equal(errors[0]?.code, 'SKILL_UNAVAILABLE');
      assert.match(errors[0].message, how, list);
    }
  },
);

test('R7 without uv a command that needs it says how to install it', { skip }, async (t) => {
  const { bash, put, requests } = await open(t, 'auto', { searchPath: '/nowhere' });
  put('SKILL.md', 'Run `uvx ruff`.');
  const { errors } = await bash('uvx ruff check');
  assert.equal(errors[0]?.code, 'SKILL_UNAVAILABLE');
  assert.match(errors[0].message, /^the command: it takes uv, .*pipx install uv/);
  assert.equal(requests.length, 0);
});

test(
  'R7 packages that cannot be fetched are said with the reason, are tried again, and leave nothing behind',
  { skip },
  async (t) => {
    const { run, put, kept, requests } = await open(t, 'auto');
    put('scripts/bad.py', `${header}# unknown-package\n`);
    for (const expected of [1, 2]) {
      const { errors } = await run('scripts/bad.py');
      assert.equal(errors[0]?.code, 'SCRIPT_FAILED');
      assert.match(errors[0].message, /packages of scripts\/bad\.py could not be fetched/);
      assert.equal(requests.length, expected);
    }
    assert.deepEqual(readdirSync(kept), []);
  },
);

test('R7 without uv the answer names how to install it, and nothing is run', { skip }, async (t) => {
  const { run, put, requests } = await open(t, 'auto', { searchPath: '/nowhere' });
  put('scripts/page.py', `${header}print("fine")\n`);
  const { errors } = await run('scripts/page.py');
  assert.equal(errors[0]?.code, 'SKILL_UNAVAILABLE');
  assert.match(errors[0].message, /pipx install uv/);
  assert.equal(requests.length, 0);
});

test('R7 with the sandbox off it works the same, on paths of the host', async (t) => {
  const { run, put } = await open(t, 'off');
  put('scripts/page.py', `${header}print("fine")\n`);
  const text = told(await run('scripts/page.py'));
  assert.match(text, /run by: uv run --offline --quiet --script \/.*\/skill\/scripts\/page\.py/);
  assert.match(text, /fine/);
});

test('R7 packages of several scripts can be fetched at the same time', async (t) => {
  const { fetched } = await open(t, 'off');
  const inTurn = async (first: number): Promise<void> => {
    for (let n = first; n < 60; n += 6) assert.ok((await fetched(`scripts/${n}.py`)).ok);
  };
  await Promise.all([0, 1, 2, 3, 4, 5].map(inTurn));
});

function told({ data, errors }: Envelope): string {
  assert.deepEqual(errors, []);
  assert.equal(typeof data, 'string');
  return String(data);
}

async function open(t: TestContext, mode: 'auto' | 'off', { searchPath }: { searchPath?: string } = {}) {
  const root = mkdtempSync(path.join(tmpdir(), 'skillet-uv-'));
  const [skillFolder, scratch, programs, kept] = ['skill', 'scratch', 'bin', 'kept'].map((name) =>
    path.join(root, name),
  ) as [string, string, string, string];
  for (const folder of [skillFolder, scratch, programs, kept]) mkdirSync(folder);
  writeFileSync(path.join(scratch, 'left-by-run.txt'), '');
  for (const name of ['uv', 'uvx']) {
    writeFileSync(path.join(programs, name), standIn);
    chmodSync(path.join(programs, name), 0o755);
  }
  const real = mode === 'off' ? createOffSandbox({ limits }) : createBubblewrapSandbox({ bwrap, limits });
  t.after(async () => {
    await real.close();
    rmSync(root, { recursive: true, force: true });
  });
  const requests: SandboxRequest[] = [];
  const sandbox: Sandbox = {
    ...real,
    run(request) {
      requests.push(request);
      return real.run(request);
    },
  };
  const skill = makeSkill('pages', { directory: skillFolder, network: ['api.example'], env: ['TOKEN'] });
  const packages = createScriptPackages({
    folder: kept,
    hosts: () => ['pypi.example'],
    imports: (name) => name === 'pyyaml' || name === 'requests-of-system',
    searchPath: searchPath ?? programs,
  });
  const run = { skill, env: { TOKEN: 'secret-of-skill' }, timeoutMs: 20_000 };
  const tool = skillsRunScriptTool({ ...run, sandbox, scratch, packages });
  const chat = path.join(root, 'chat');
  mkdirSync(chat);
  const bash = bashTool({
    ...run,
    place: { sandbox, folders: [], within: (work) => work({ scratch, chat }) },
    simple: () => false,
    packages: toolPackages({ skill, sandbox, packages }),
  });
  const context = toolContext({
    signal: t.signal,
    artifact: async () => ({ ok: false, code: 'TOOL_FAILED', problem: 'no files here' }),
  });
  return {
    requests,
    scratch,
    kept,
    put(name: string, text: string) {
      mkdirSync(path.dirname(path.join(skillFolder, name)), { recursive: true });
      writeFileSync(path.join(skillFolder, name), text);
      assert.ok(existsSync(path.join(skillFolder, name)));
    },
    run: (file: string, args: readonly string[] = []) => tool.run({ path: file, args }, context),
    bash: (command: string) => bash.run({ command }, context),
    fetched: (script: string) =>
      packages({
        sandbox,
        content: 'of one skill',
        skillDirectory: skillFolder,
        scratch,
        lists: [],
        fetch: ['uv', 'sync', '--quiet', '--script', script],
        signal: t.signal,
        onFetch: () => undefined,
      }),
  };
}
