import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { findContainerEngine } from '../../src/sandbox/container/container-engine.ts';
import { openSandbox } from '../../src/sandbox/open-sandbox.ts';
import { quietLog } from '../support/quiet-log.ts';
import { sandboxLimits } from '../support/sandbox-limits.ts';

const docker = (more: object) =>
  saying({
    ServerVersion: '28.2.2',
    SecurityOptions: ['name=seccomp,profile=builtin'],
    MemoryLimit: true,
    PidsLimit: true,
    ...more,
  });
const podman = (rootless: boolean, controllers: string[]) =>
  saying({
    host: { cgroupVersion: 'v2', cgroupControllers: controllers, security: { rootless } },
    version: { Version: '4.3.1' },
  });

test('T9 the first engine that works is used: a client without its service is not one', async (t) => {
  const dead = '#!/bin/sh\necho "Cannot connect to the Docker daemon" >&2; exit 1\n';
  const found = await find(t, { docker: dead, podman: podman(true, ['memory', 'pids']) });
  assert.ok(found.ok);
  assert.equal(found.engine.name, 'podman 4.3.1');
  assert.deepEqual(found.engine.own, [
    '--user',
    '1001:1002',
    '--userns',
    'keep-id',
    '--read-only-tmpfs=false',
  ]);
  const none = await find(t, { docker: dead });
  assert.ok(!none.ok);
  assert.match(none.why.join('; '), /Cannot connect to the Docker daemon; podman is not installed/);
  const only = await find(t, { docker: docker({}), podman: dead }, 'podman');
  assert.equal(only.ok, false);
});

test('T9 an engine that hangs, whatever it is told, or says nothing that can be read is passed over with the reason', async (t) => {
  const hanging = `#!/bin/sh\ntrap '' TERM INT\nexec /bin/sleep 600\n`;
  const found = await find(t, { docker: hanging, podman: podman(true, ['memory', 'pids']) });
  assert.ok(found.ok);
  const none = await find(t, {
    docker: hanging,
    podman: '#!/bin/sh\necho "Emulate Docker CLI using podman"\n',
  });
  assert.ok(!none.ok);
  assert.match(none.why.join('; '), /docker: it does not answer; podman says nothing of a running service/);
  const refused = await find(t, { docker: '#!/bin/sh\necho "Error: no such flag" >&2\nexit 125\n' });
  assert.ok(!refused.ok);
  assert.match(refused.why.join('; '), /docker: Error: no such flag/);
});

test('T9 commands are never root: the user of the bot is, in each kind of engine, who they are', async (t) => {
  const users: (readonly string[])[] = [];
  for (const options of [[], ['name=rootless'], ['name=userns']]) {
    const found = await find(t, { docker: docker({ SecurityOptions: options }) });
    users.push(found.ok ? found.engine.own : []);
  }
  // To a daemon without privileges its own user is number 0.
  assert.deepEqual(users, [
    ['--user', '1001:1002'],
    ['--user', '0:0'],
    ['--user', '1001:1002', '--userns', 'host'],
  ]);
});

test('T9 what an engine can limit is asked of it', async (t) => {
  const limits = async (programs: Readonly<Record<string, string>>) => {
    const found = await find(t, programs);
    return found.ok && found.engine.limits;
  };
  assert.deepEqual(await limits({ docker: docker({ PidsLimit: false }) }), { memory: true, pids: false });
  assert.deepEqual(await limits({ podman: podman(true, []) }), { memory: false, pids: false });
  // What is called docker may be podman.
  assert.deepEqual(await limits({ docker: podman(true, ['pids']) }), { memory: false, pids: true });
});

test('S2 a client of an engine gets what steers it, and nothing else of the environment', async (t) => {
  const found = await find(t, { docker: docker({}) }, undefined, {
    DOCKER_HOST: 'unix:///run/x.sock',
    XDG_RUNTIME_DIR: '/run/user/1001',
    TELEGRAM_TOKEN: 'canary',
  });
  assert.ok(found.ok);
  const { PATH: _, ...env } = found.engine.env;
  assert.deepEqual(env, { DOCKER_HOST: 'unix:///run/x.sock', XDG_RUNTIME_DIR: '/run/user/1001' });
});

test(
  'T9 docker is refused to a bot that runs as root, with what to do',
  { skip: process.getuid?.() !== 0 && 'this is not root' },
  async () => {
    const opening = openSandbox({
      mode: 'docker',
      limits: sandboxLimits,
      hidden: [],
      containers: { folder: '/nowhere' },
      log: quietLog(),
    });
    await assert.rejects(
      opening,
      (error) => error instanceof OperatorError && /does not run as root.*ordinary user/.test(error.message),
    );
  },
);

/** A program that gives this as its description. */
function saying(info: object): string {
  return `#!/bin/sh\n[ "$1 $2" = "info --format" ] || exit 1\ncat <<'E'\n${JSON.stringify(info)}\nE\n`;
}

async function find(
  t: TestContext,
  programs: Readonly<Record<string, string>>,
  wanted?: 'docker' | 'podman',
  env: Readonly<Record<string, string>> = {},
): ReturnType<typeof findContainerEngine> {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-engines-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(programs))
    writeFileSync(path.join(folder, name), text.replace('cat <<', '/bin/cat <<'), { mode: 0o755 });
  return findContainerEngine({
    wanted,
    uid: 1001,
    gid: 1002,
    env: { PATH: folder, ...env },
    patienceMs: 2_000,
  });
}
