import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderEnvelope } from '../../src/core/envelope.ts';
import { makeRoot } from '../skills/make-root.ts';
import { answerCommand } from '../../src/tools/built-in/run-command.ts';

const said = (stderr: string, network: readonly string[]): string => {
  const outcome = { status: 'exited', exitCode: 1, stdout: '', stderr, truncated: false } as const;
  return renderEnvelope(answerCommand('scripts/a.sh', outcome, 1_000, { name: 'tides', network }));
};

test('R5 a command that fails for want of a network says who gives it one; any other failure does not', () => {
  const fix = /\[skills\.tides\] network = /;
  for (const words of [
    'curl: (6) Could not resolve host: api.example.com',
    'Error: getaddrinfo EAI_AGAIN api.example.com',
    "  [cause]: Error: getaddrinfo ENOTFOUND api.example.com\n    errno: -3008,\n    code: 'ENOTFOUND',",
    'Error: connect ENETUNREACH 192.0.2.1:443 - Local (0.0.0.0:0)',
    'urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>',
    'socket.gaierror: [Errno -2] Name or service not known',
    "fatal: unable to access 'https://api.example.com/a/': Could not resolve host: api.example.com",
    'wget: unable to resolve host address ‘api.example.com’',
    "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/a/",
  ]) {
    assert.match(said(words, []), fix, words);
    assert.doesNotMatch(said(words, ['api.example.com']), fix);
  }
  for (const words of [
    'no such file',
    "ModuleNotFoundError: No module named 'pypdf'",
    "Error: Cannot find module 'pdf-lib'\n  code: 'MODULE_NOT_FOUND',",
    'FileNotFoundError: [Errno 2] No such file or directory: example',
    'ERROR: No matching distribution found for a',
  ])
    assert.doesNotMatch(said(words, []), fix, words);
});

test('R5 a missing Python module or program is told with what brings it, and never as a missing network', (t) => {
  const told = (stderr: string, stdout = ''): string => {
    const outcome = { status: 'exited', exitCode: 1, stdout, stderr, truncated: false } as const;
    const directory = makeRoot(t, { 'core/gif.py': 'x', 'helper.py': 'x' });
    const skill = { name: 'sheets', network: [], directory };
    return renderEnvelope(answerCommand('the command', outcome, 1_000, skill)).split('\n')[0] ?? '';
  };
  const trace = (module: string): string =>
    `Traceback (most recent call last):\n  File "x.py", line 1\nModuleNotFoundError: No module named '${module}'`;
  for (const [module, brings] of [
    ['openpyxl', 'python3-openpyxl'],
    ['pypdf', 'python3-pypdf'],
    ['PIL', 'python3-pil'],
    ['yaml', 'python3-yaml'],
  ] as const)
    assert.match(
      told(trace(module)),
      new RegExp(`no module ${module} here.*apt-get install ${brings} .*packages: \\[${brings}\\]`),
    );
  assert.match(told('', trace('openpyxl')), /python3-openpyxl/);
  assert.match(told('/usr/bin/python3: No module named pytest'), /python3-pytest/);
  assert.match(told(trace('pdfplumber')), /No Debian package is known .* "# \/\/\/ script" header .* uv$/);
  assert.doesNotMatch(told(trace('pdfplumber')), /apt-get/);
  for (const own of ['core.gif', 'helper'])
    assert.match(told(trace(own)), /lies in the skill's: change there first$/);
  assert.match(told('sh: 1: pandoc: not found'), /program pandoc is not there.*apt-get install pandoc/);
  assert.doesNotMatch(told('sh: 1: memo: not found'), /apt-get/);
  for (const tool of ['uvx', 'uv', 'pipx'])
    for (const words of [`sh: 1: ${tool}: not found`, `bash: ${tool}: command not found`])
      assert.match(
        told(words),
        new RegExp(
          `The program ${tool} is not there for this command.* uv, which the operator installs: pipx install uv`,
        ),
        words,
      );
  assert.match(told('bash: line 2: pandoc: command not found'), /apt-get install pandoc/);
  for (const words of [trace('openpyxl'), 'sh: 1: pandoc: not found'])
    assert.doesNotMatch(told(words), /network/);
});

test('R5 a command that was refused a host is told which, and what to set, however it ended', () => {
  const refused = ['evil.test:443 (evil.test is not declared)'];
  const skill = { name: 'tides', network: ['api.example.com'] };
  const output = { stdout: 'half', stderr: '', truncated: false, refused };
  for (const outcome of [
    { status: 'exited', exitCode: 56, ...output },
    { status: 'exited', exitCode: 0, ...output },
    { status: 'stopped', reason: 'timeout', ...output },
  ] as const) {
    const told = renderEnvelope(answerCommand('scripts/a.sh', outcome, 1_000, skill));
    assert.match(told, /refused the connection to evil\.test:443 \(evil\.test is not declared\)/);
    assert.match(told, /\[skills\.tides\] network = /);
    assert.match(told, /half/);
  }
});

test('R5 curl or wget that reach nothing are told of the network, with a doubt, whatever else was printed and in a pipe', () => {
  const told = (exitCode: number, command: string, stderr = '', network: readonly string[] = []): string => {
    const outcome = { status: 'exited', exitCode, stdout: '', stderr, truncated: false } as const;
    const skill = { name: 'tides', network };
    return renderEnvelope(answerCommand('the command', outcome, 1_000, skill, command));
  };
  const curl = /If that is curl, .*\[skills\.tides\] network = /;
  assert.match(told(6, 'sh scripts/tides.sh'), curl);
  assert.match(told(6, 'sh scripts/tides.sh', 'Asking for the tides …\n'), curl);
  assert.match(told(1, 'sh -c curl -s https://a.example | python3 -m json.tool', 'Expecting value'), curl);
  assert.match(told(4, 'sh -c (curl -s https://a.example) | jq .'), curl);
  assert.match(told(0, 'sh -c curl -s https://a.example | jq .'), /^It printed nothing\. If that is curl, /);
  assert.match(told(4, 'sh scripts/a.sh'), /If that is wget, .*\[skills\.tides\] network = /);
  for (const other of [told(1, 'sh scripts/a.sh'), told(6, 'curl -s x', '', ['a.example']), told(0, 'true')])
    assert.doesNotMatch(other, /network/);
});

test('R5 a path of the skill that a command missed elsewhere is told with where it lies', (t) => {
  const directory = makeRoot(t, { 'scripts/make.py': 'x', 'references/style.md': 'x', 'top.md': 'x' });
  for (const [stderr, place] of [
    [
      "python: can't open file '/chat/scripts/make.py': [Errno 2] No such file or directory",
      'scripts/make.py',
    ],
    ['cat: references/style.md: No such file or directory', 'references/style.md'],
    ['sh: 0: cannot open scripts/make.py: No such file or directory', 'scripts/make.py'],
    ["Error: Cannot find module '/chat/scripts/make.py'", 'scripts/make.py'],
    ["Error: ENOENT: no such file or directory, open 'references/style.md'", 'references/style.md'],
    ['sh: 1: ./scripts/make.py: not found', 'scripts/make.py'],
  ] as const)
    assert.ok(
      failed(stderr, directory).includes(`${place} lies in the skill, not there: write /skill/${place}`),
      stderr,
    );
  for (const other of ['cat: scripts/none.py: No such file or directory', 'scripts/make.py: syntax error'])
    assert.doesNotMatch(failed(other, directory), /lies in the skill/);
});

test('R5 a command that would write into its skill is told that it may not, and where it may', (t) => {
  const directory = makeRoot(t, { 'scripts/make.py': 'x' });
  for (const words of [
    "Error: ENOENT: no such file or directory, mkdir '/skill/scripts/.cache'",
    "OSError: [Errno 30] Read-only file system: 'scripts/.cache'",
    "Error: EROFS: read-only file system, open '/skill/a'",
    'sh: 1: cannot create scripts/new.py: Read-only file system',
    "PermissionError: [Errno 13] Permission denied: '/skill/x'",
  ])
    assert.match(failed(words, directory), /files are read-only, in \/skill .* or to \/chat/, words);
  for (const other of [
    'Permission denied (publickey).',
    "ENOENT: no such file or directory, open '/skill/x'",
  ])
    assert.doesNotMatch(failed(other, directory), /read-only/);
});

test('R5 a program that another was to start is told like one of the shell', () => {
  for (const words of [
    'timeout: failed to run command ‘pandoc’: No such file or directory',
    'env: ‘pandoc’: No such file or directory',
    'xargs: pandoc: No such file or directory',
  ])
    assert.match(failed(words), /program pandoc is not there.*apt-get install pandoc/, words);
});

function failed(stderr: string, directory?: string): string {
  const outcome = { status: 'exited', exitCode: 1, stdout: '', stderr, truncated: false } as const;
  const skill = { name: 'tides', network: [], ...(directory === undefined ? {} : { directory }) };
  return renderEnvelope(answerCommand('the command', outcome, 1_000, skill)).split('\n')[0] ?? '';
}
