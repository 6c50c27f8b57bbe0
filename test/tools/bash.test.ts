import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { commandTools, namesOfCommandTools, plainRunTools, scriptGround } from '../../src/runs/run-tools.ts';
import { createRedactor } from '../../src/lib/redaction/redact.ts';
import type { Skill } from '../../src/core/skill.ts';
import type { Requester } from '../../src/core/tool.ts';
import type { ToolOutcome } from '../../src/core/tool-call.ts';
import { removeFolder } from '../../src/lib/files/write-inside.ts';
import { createScriptPackages } from '../../src/sandbox/packages/script-packages.ts';
import type { Sandbox, SandboxRequest } from '../../src/sandbox/sandbox.ts';
import { createVirtualSandbox } from '../../src/sandbox/virtual/virtual.ts';
import type { DecideCall } from '../../src/tools/call-tool.ts';
import { parseAllowedTools } from '../../src/tools/allowed-tools.ts';
import { ownScript } from '../../src/tools/own-script.ts';
import { decidePolicy, type Policy } from '../../src/tools/policy.ts';
import { makeSkill } from '../support/make-skill.ts';
import { openDoor } from '../support/call-one-tool.ts';
import { toolContext } from '../support/tool-context.ts';
import { createPlainFolders } from '../../src/folders/plain-folders.ts';

const root = mkdtempSync(path.join(tmpdir(), 'skillet-bash-'));
const folders = { scratch: path.join(root, 'scratch'), chat: path.join(root, 'chat') };
for (const folder of ['scratch', 'chat', 'skill', 'skill/scripts']) mkdirSync(path.join(root, folder));
writeFileSync(path.join(root, 'skill/scripts/key.sh'), 'echo "key: ${API_KEY:-none}"\n');
chmodSync(path.join(root, 'skill/scripts/key.sh'), 0o644);
const virtual = createVirtualSandbox();
const packages = createScriptPackages({
  folder: path.join(root, 'uv'),
  hosts: () => [],
  imports: () => false,
  searchPath: root,
});
after(async () => {
  await virtual.close();
  await removeFolder(root);
});

const secret = 'canary-secret-5521';
const usual: Policy = { safe: 'allow', moderate: 'allow', dangerous: 'confirm', critical: 'deny', rules: [] };

type Case = Readonly<{
  allowed?: readonly string[];
  envInBash?: boolean;
  policy?: Policy;
  skill?: Partial<Skill>;
  sandbox?: Sandbox;
  signal?: AbortSignal;
}>;

/** A run's bash, with its ceiling and policy, and what it handed to the sandbox. */
function bashOf({
  allowed,
  envInBash = true,
  policy = usual,
  skill: change,
  sandbox = virtual,
  signal,
}: Case) {
  const requests: SandboxRequest[] = [];
  const risks: string[] = [];
  const skill = makeSkill('worker', {
    directory: path.join(root, 'skill'),
    env: ['API_KEY'],
    ...(allowed === undefined ? {} : { allowedTools: allowed }),
    ...change,
  });
  const scripts = scriptGround(skill, folders, sandbox);
  const asFreely = (by: Requester): boolean =>
    decidePolicy(policy, { tool: 'skills_run_script', risk: 'moderate', requester: by, marked: false })
      .action === 'allow';
  const working = createPlainFolders('/nowhere');
  const plain = plainRunTools({ skill, folders, working, sandbox, quota: 1_000_000, maxBytes: 200_000 });
  const names = [...namesOfCommandTools({ scripts }), ...plain.map(({ name }) => name)];
  const allowedTools = parseAllowedTools(allowed, names, {
    builtInTools: allTools(),
    invalid: 'error',
    startsOwnScript: (command) =>
      scripts !== undefined && asFreely(toolContext().requester) && ownScript(command, scripts) !== undefined,
  });
  assert.ok(allowedTools.ok);
  const commands = commandTools({
    ...{ skill, allowed, scripts, folders, working, packages, envInBash },
    sandbox: {
      ...sandbox,
      async run(request) {
        requests.push(request);
        return sandbox.run(request);
      },
    },
    env: { API_KEY: secret },
    mayRunScripts: { inAllowedTools: allowedTools.names.includes('skills_run_script'), asFreely },
  });
  assert.deepEqual(
    commands.map(({ name }) => name),
    namesOfCommandTools({ scripts }),
  );
  const tools = [...plain, ...commands];
  const decide: DecideCall = async ({ tool, risk, requester }) => {
    risks.push(risk);
    const { action } = decidePolicy(policy, { tool: tool.name, risk, requester, marked: false });
    return action === 'allow'
      ? { allowed: true }
      : { allowed: false, code: 'TOOL_POLICY_DENIED', reason: action, hint: action };
  };
  const redact = createRedactor([{ name: 'API_KEY', value: secret }]);
  const callTool = openDoor(tools, { allowed: allowedTools, decide, redact });
  const call = async (command: string): Promise<string> =>
    textOf(
      await callTool({ id: 'c', name: 'bash', input: { command } }, signal ?? new AbortController().signal),
    );
  return { call, requests, risks };
}

function textOf({ content }: ToolOutcome): string {
  return String(content);
}

test('T5 Bash(git:*) is one command spawned as an argument vector; what it holds for any shell or for git is nothing to a shell', async () => {
  const { call, requests } = bashOf({ allowed: ['Bash(echo:*)', 'Bash(git log:*)'] });
  assert.equal(await call(`echo 'a; id' "b  c" '$HOME' '!sh' '#x'`), 'a; id b  c $HOME !sh #x\n');
  assert.deepEqual(requests.at(-1)?.argv, ['echo', 'a; id', 'b  c', '$HOME', '!sh', '#x']);
  const refused = [
    ...[
      'echo a; id',
      'echo a && id',
      'echo a | sh',
      'echo a & id',
      'echo a\nid',
      'echo a\r\nid',
      'echo $(id)',
      'echo `id`',
    ],
    ...[
      'echo $HOME',
      'echo ${IFS}',
      'echo "$(id)"',
      'echo a > /chat/x',
      'echo a #x',
      'echo "a',
      "echo 'a",
      'echo a\\',
      'echo ~',
      'echo *',
    ],
    ...[
      'env X=1 git log',
      'X=1 echo a',
      'command echo a',
      'sudo echo',
      '/bin/echo a',
      './echo a',
      'ECHO a',
      'echo\u00a0a',
      'echo\u2003a',
      'echo\u3000a',
      'еcho a',
    ],
    ...[
      `git -c 'alias.log=!id' log`,
      'git --exec-path=/scratch log',
      'git\u200blog',
      'git status',
      'git logs',
      '',
    ],
  ];
  for (const command of refused) {
    const answer = await call(command);
    assert.match(
      answer,
      command === ''
        ? /ARGUMENTS_INVALID|TOOL_NOT_ALLOWED/
        : /^error TOOL_NOT_ALLOWED: bash takes one simple command here, beginning with: echo \| git log \| a script of this skill \(no operators/,
      command,
    );
  }
  assert.equal(requests.length, 1, 'nothing of it ran');
});

test('U3 commands that the model writes know the env unless the operator keeps it to scripts, and it is redacted', async () => {
  const cases: readonly (readonly [Case, boolean])[] = [
    [{}, true],
    [{ allowed: ['b*', 'read_file'] }, true],
    [{ allowed: ['*'] }, true],
    [{ allowed: ['Bash'] }, true],
    [{ allowed: ['bash'] }, true],
    [{ allowed: ['Bash(printenv:*)'] }, true],
    [{ allowed: ['Bash'], envInBash: false }, false],
    [{ envInBash: false }, false],
  ];
  for (const [given, knows] of cases) {
    const { call, requests } = bashOf(given);
    const answer = await call('printenv API_KEY');
    assert.match(
      answer,
      knows ? /^\[redacted API_KEY\]/ : /^error SCRIPT_FAILED: .* exit code 1/,
      JSON.stringify(given),
    );
    assert.deepEqual(requests[0]?.env, knows ? { API_KEY: secret } : {}, JSON.stringify(given));
    assert.doesNotMatch(answer, new RegExp(secret));
  }
});

test('T5 T8 U3 a script started by bash is no way round ceiling, policy and env_in_bash', async () => {
  const asScript = 'sh scripts/key.sh';
  const denied: Policy = { ...usual, rules: [{ tool: 'skills_run_script', action: 'deny' }] };
  const cases: readonly (readonly [Case, RegExp])[] = [
    [{}, /^key: \[redacted API_KEY\]/],
    [{ allowed: ['Bash'] }, /^key: \[redacted API_KEY\]/],
    [{ allowed: ['b*'] }, /^key: \[redacted API_KEY\]/],
    [{ allowed: ['b*'], envInBash: false }, /^key: none/],
    [{ allowed: ['Bash'], envInBash: false }, /^key: \[redacted API_KEY\]/],
    [{ allowed: ['Bash(gh:*)', 'Read'] }, /^key: \[redacted API_KEY\]/],
    [{ allowed: ['Bash({baseDir}/scripts/other.sh:*)'] }, /^key: \[redacted API_KEY\]/],
    [{ allowed: ['Read'] }, /TOOL_NOT_ALLOWED/],
    [{ policy: denied, envInBash: false }, /^key: none/],
    [{ policy: denied, allowed: ['Bash(gh:*)'] }, /TOOL_NOT_ALLOWED: bash/],
  ];
  for (const [given, answer] of cases)
    assert.match(await bashOf(given).call(asScript), answer, JSON.stringify(given));
});

test('T7 T8 bash is moderate without network, dangerous with it, critical with the sandbox off, and policy goes by that', async () => {
  const reaching = { ...virtual, mode: 'bubblewrap' as const, reachesNetwork: true };
  const off = { ...virtual, mode: 'off' as const, reachesNetwork: true };
  const network = { network: ['example.org'] };
  const cases: readonly (readonly [Case, string, RegExp])[] = [
    [{ skill: network }, 'moderate', /^a\n$/],
    [{ sandbox: reaching }, 'moderate', /^a\n$/],
    [{ sandbox: reaching, skill: network }, 'dangerous', /^error TOOL_POLICY_DENIED: confirm/],
    [{ sandbox: off }, 'critical', /^error TOOL_POLICY_DENIED: deny/],
    [{ policy: { ...usual, moderate: 'deny' } }, 'moderate', /^error TOOL_POLICY_DENIED: deny/],
    [
      { policy: { ...usual, rules: [{ tool: 'ba*', action: 'confirm' }] } },
      'moderate',
      /^error TOOL_POLICY_DENIED: confirm/,
    ],
  ];
  for (const [given, risk, answer] of cases) {
    const { call, risks } = bashOf(given);
    assert.match(await call('echo a'), answer);
    assert.deepEqual(risks, [risk]);
  }
});

test('R8 M3 T11 bash answers with codes: failure, time, cancellation, length; its output is cut with a marker', async () => {
  assert.match(
    await bashOf({}).call('echo out; echo err >&2; exit 3'),
    /^error SCRIPT_FAILED: the command ended with exit code 3\n\[end of stdout\]\nout\n\n\[end of stderr\]\nerr/,
  );
  const late = await bashOf({ skill: { timeoutSeconds: 0.3 } }).call('while :; do :; done');
  assert.match(late, /^error SCRIPT_TIMEOUT: the command did not end within 0\.3 s and was stopped/);
  const stopped = new AbortController();
  stopped.abort();
  assert.match(await bashOf({ signal: stopped.signal }).call('echo a'), /^error CANCELLED/);
  assert.match(await bashOf({}).call('a\0b'), /^error ARGUMENTS_INVALID: the command holds a NUL/);
  assert.match(
    await bashOf({}).call(`echo ${'x'.repeat(120_000)}`),
    /^error ARGUMENTS_INVALID: the command has 120005 bytes .* write_file/,
  );
  const long = await bashOf({}).call('echo start; seq 1 40000; echo end');
  assert.match(long, /^start\n/);
  assert.match(long, /\n\[… \d+ characters left out …\]\n/);
  assert.match(long, /\nend\n?$/);
  assert.ok(long.length <= 30_000, String(long.length));
});
