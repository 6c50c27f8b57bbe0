import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { containerLabel } from '../../src/sandbox/container/container-arguments.ts';
import type { ContainerEngine } from '../../src/sandbox/container/container-engine.ts';
import { createDockerSandbox } from '../../src/sandbox/container/docker.ts';
import { openSandbox } from '../../src/sandbox/open-sandbox.ts';
import type { EgressProxyOptions } from '../../src/sandbox/open-egress-proxy.ts';
import type { Sandbox, SandboxLimits, SandboxRequest } from '../../src/sandbox/sandbox.ts';
import { openContainersHere } from '../support/containers-here.ts';
import { quietLog } from '../support/quiet-log.ts';
import {
  contractLimits,
  exited,
  makeGround,
  requestOf,
  testSandboxContract,
  type Ground,
} from '../support/sandbox-contract.ts';
import { testSandboxCap } from '../support/sandbox-cap-contract.ts';
import { isRunning, testSandboxLimits } from '../support/sandbox-limits-contract.ts';
import { testSandboxNetwork } from '../support/sandbox-network-contract.ts';
import { sandboxLimits } from '../support/sandbox-limits.ts';
import { noTerminal, openTerminal, withSkill } from '../support/shell-at-terminal.ts';
import { until } from '../support/until.ts';

const { engine: found, image, skip } = await openContainersHere();
const folder = mkdtempSync(path.join(tmpdir(), 'skillet-containers-'));
const roots: string[] = [folder];
const made: { ground?: Ground; sandbox?: Sandbox } = {};

before(async () => {
  if (skip !== false) return;
  made.ground = await makeGround(roots);
  made.sandbox = open(contractLimits);
});
after(async () => {
  await made.sandbox?.close();
  for (const root of roots) rmSync(root, { recursive: true });
});

testSandboxContract('docker', { skip, contains: true, open });
testSandboxLimits('docker', { skip, open });
testSandboxCap('docker', { skip, open: (limits) => open(limits), timeoutMs: 10_000 });
testSandboxNetwork('docker', { skip, open: (limits, wayOut, beside) => open(limits, wayOut, beside) });

test(
  'T9 docker: a command has no privileges, an ordinary user, own processes, and a system that is only read',
  { skip },
  async () => {
    const status = await sh('cat /proc/self/status');
    assert.match(status, /^NoNewPrivs:\t1$/m);
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
      assert.match(status, new RegExp(`^Cap${set}:\t0+$`, 'm'));
    assert.match(status, /^Seccomp:\t2$/m);
    assert.equal(await sh('whoami; hostname; echo $HOME; pwd'), 'skillet\nsandbox\n/scratch\n/scratch\n');
    const places = [
      '/x',
      '/etc/x',
      '/etc/passwd',
      '/run/x',
      '/run/skillet/bin/x',
      '/usr/x',
      '/bin/sh',
      '/skill/x',
    ];
    const lines = places.map((place) => `(: >> ${place}) 2>/dev/null && echo ${place}`);
    assert.equal(await sh(`${lines.join('\n')}\ntrue`), '');
    assert.equal(await sh('(: > /dev/tty) 2>/dev/null || echo none'), 'none\n');
    assert.equal(await sh('kill -9 -1; echo alive'), 'alive\n');
  },
);

test('S2 U3 docker: what a skill declares shows in no command line of the host', { skip }, async () => {
  assert.ok(made.ground && made.sandbox);
  const controller = new AbortController();
  const running = made.sandbox.run(
    requestOf(made.sandbox, made.ground, {
      argv: ['sleep', '64.7351'],
      env: { TEST_API_KEY: "canary-'77\n$c1", DOCKER_HOST: 'tcp://127.0.0.1:1' },
      signal: controller.signal,
    }),
  );
  await until(() => isRunning('sleep\u000064.7351'));
  assert.equal(await isRunning("canary-'77"), false);
  controller.abort();
  await running;
  const env = { TEST_API_KEY: "canary-'77\n$c1", TZ: 'UTC', LANG: 'no', '$(id)': 'x' };
  assert.equal(await sh('printenv TEST_API_KEY TZ LANG', { env }), "canary-'77\n$c1\nUTC\nC.UTF-8\n");
});

test(
  'T9 docker: a fork bomb meets the limit of its container, and the next command runs',
  { skip },
  async () => {
    assert.ok(made.ground && made.sandbox);
    // Three hundred at most, where nothing stops it.
    const script = `for (let i = 0; i < 300; i++) require('child_process').spawn('sleep', ['60']).on('error', () => {})`;
    const outcome = await made.sandbox.run(
      requestOf(made.sandbox, made.ground, { argv: ['node', '-e', script] }),
    );
    assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'processes');
    assert.equal(await sh('echo fine'), 'fine\n');
  },
);

test('T9 docker: a container ends when the bot is killed, and nothing of it is left', { skip }, async () => {
  assert.ok(made.ground && found && image);
  const { scratch } = made.ground;
  const others = await containers(found);
  const module = (name: string): string =>
    JSON.stringify(import.meta.resolve(`../../src/sandbox/container/${name}.ts`));
  const program = `
    import { createDockerSandbox } from ${module('docker')};
    import { findContainerEngine } from ${module('container-engine')};
    const { engine } = await findContainerEngine({ wanted: ${JSON.stringify(path.basename(found.program))}, uid: process.getuid(), gid: process.getgid(), env: process.env });
    const image = { current: async () => ${JSON.stringify(await image.current())}, forget() {} };
    const sandbox = createDockerSandbox({ engine, image, limits: ${JSON.stringify(contractLimits)}, folder: ${JSON.stringify(folder)}, node: true });
    await sandbox.run({ scratch: ${JSON.stringify(scratch)}, network: [], env: {}, timeoutMs: 600_000, outputCap: 10_000, signal: new AbortController().signal, argv: ['sleep', '65.' + '1193'] });`;
  const bot = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: 'inherit',
  });
  await until(() => isRunning('sleep\u000065.1193'));
  bot.kill('SIGKILL');
  await once(bot, 'exit');
  await until(async () => !(await isRunning('65.1193')));
  await until(async () => (await containers(found)) === others);
});

test(
  'T9 docker: what a killed bot left is removed at the next start, and an image that is gone is made anew',
  { skip },
  async () => {
    assert.ok(made.ground && found && image);
    const name = `skillet-left-${process.pid}`;
    const left = ['create', '--name', name, '--label', `${containerLabel}=1`, await image.current(), 'true'];
    await found.call(left);
    const log = quietLog();
    const opened = await openSandbox({
      mode: 'docker',
      limits: sandboxLimits,
      hidden: [],
      containers: { engine: engineName(found), image: await image.current(), folder },
      log,
    });
    assert.equal(opened.installed?.size, 0);
    assert.match(log.lines.at(-1)?.message ?? '', /^scripts run in containers of (docker|podman) \d/);
    await opened.close();
    assert.equal(await found.call(['ps', '--all', '--quiet', '--filter', `name=${name}`]), '');

    await found.call(['image', 'rm', '--force', await image.current()]);
    assert.equal(await sh('echo again'), 'again\n');
  },
);

test(
  'T9 docker: an image is not fetched by itself, and one that is absent is told with the command',
  { skip },
  async () => {
    assert.ok(found);
    const containers = { engine: engineName(found), folder };
    const open = (more: object) =>
      openSandbox({
        mode: 'docker',
        limits: sandboxLimits,
        hidden: [],
        containers: { ...containers, ...more },
        log: quietLog(),
      });
    await assert.rejects(open({ image: 'skillet.invalid/none:1' }), {
      name: 'OperatorError',
      message:
        /image = "skillet\.invalid\/none:1" is not on this machine.*(docker|podman) pull skillet\.invalid\/none:1/,
    });
    await assert.rejects(open({}), { name: 'OperatorError', message: /"skillet sandbox build" makes one/ });
    assert.deepEqual(await readdir(folder), ['group', 'passwd']);
  },
);

test(
  'R6 T9 sandbox shell: in a container it is the same, and nothing of it is left',
  { skip: noTerminal !== false ? noTerminal : skip },
  async (t) => {
    assert.ok(found && image);
    const home = await withSkill(t);
    await home.write(
      'config.toml',
      `[sandbox]\nmode = "docker"\nengine = "${engineName(found)}"\nimage = "${await image.current()}"\n[skills.parcels]\nPARCELS_KEY = "k-12"\n`,
    );
    const { HOME, DOCKER_HOST, XDG_RUNTIME_DIR } = process.env;
    const shell = await openTerminal(t, home, ['sandbox', 'shell', 'parcels'], {
      HOME,
      DOCKER_HOST,
      XDG_RUNTIME_DIR,
    });
    await shell.until(/sandbox docker: \/skill[^]*sandbox:\S+\$ /);
    await shell.ask('pwd; whoami; echo "key $PARCELS_KEY"', /\/scratch\r\nskillet\r\nkey k-12\r/);
    await shell.ask('sleep 67.219 & jobs; kill %1', /\[1\]\+ +Running/);
    assert.equal(await shell.end('exit 7'), 7);
    assert.deepEqual(await readdir(path.join(home.folder, 'workspace/runs')), []);
  },
);

function open(limits: SandboxLimits, wayOut?: EgressProxyOptions, beside = folder): Sandbox {
  assert.ok(found && image);
  const more = wayOut === undefined ? {} : { wayOut };
  return createDockerSandbox({ engine: found, image, limits, folder: beside, node: true, ...more });
}

async function sh(script: string, more: Partial<SandboxRequest> = {}): Promise<string> {
  assert.ok(made.ground && made.sandbox);
  const request = requestOf(made.sandbox, made.ground, { argv: ['sh', '-c', script], ...more });
  return exited(await made.sandbox.run(request)).stdout;
}

/** Ids of all containers of ours. */
function containers(engine: ContainerEngine): Promise<string> {
  return engine.call(['ps', '--all', '--quiet', '--filter', `label=${containerLabel}`]);
}

function engineName({ program }: ContainerEngine): 'docker' | 'podman' {
  return path.basename(program) === 'podman' ? 'podman' : 'docker';
}
