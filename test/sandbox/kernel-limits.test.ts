import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createBubblewrapSandbox } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { openCommandGroups, type CommandGroups } from '../../src/sandbox/limits/kernel-limits.ts';
import type { Sandbox, SandboxOutcome } from '../../src/sandbox/sandbox.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { exited, makeGround, requestOf } from '../support/sandbox-contract.ts';

const { bwrap, skip } = bubblewrapHere;
const limits = { memoryMb: 128, cpuSeconds: 60, processes: 40, diskMb: 64 };
const real = openCommandGroups();
/** Alone in a group: systemd-run --pty -p Delegate=yes node test/sandbox/kernel-limits.test.ts */
const noGroups = skip === false && !real.ok ? `no control groups here: ${real.why}` : skip;

async function open(t: TestContext, groups: CommandGroups) {
  const roots: string[] = [];
  const sandbox: Sandbox = createBubblewrapSandbox({ bwrap, limits, groups });
  t.after(async () => {
    await sandbox.close();
    await Promise.all(roots.map((root) => rm(root, { recursive: true, force: true })));
  });
  const ground = await makeGround(roots);
  const run = (...argv: [string, ...string[]]): Promise<SandboxOutcome> =>
    sandbox.run(requestOf(sandbox, ground, { argv, timeoutMs: 60_000 }));
  return { sandbox, run };
}

/** Files in memory that are sent through sockets and closed: they are in no process. */
const inFlight = `
import array, os, socket
kept = []
for i in range(60):
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    kept.append((a, b))
    file = os.memfd_create("x")
    os.write(file, bytes(10_000_000))
    a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
    os.close(file)
print("held all")`;

test('T9 the kernel ends a command for memory that is in no process', { skip: noGroups }, async (t) => {
  const { sandbox, run } = await open(t, real);
  assert.match(sandbox.limits ?? '', /^the kernel enforces memory/);
  const outcome = await run('python3', '-c', inFlight);
  if (outcome.status === 'unavailable') return t.skip('needs python3');
  assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'memory');
  assert.equal(exited(await run('sh', '-c', 'echo fine')).stdout, 'fine\n');
});

test('T9 without control groups there are no such files, and operators hear why', { skip }, async (t) => {
  const { sandbox, run } = await open(t, { ok: false, why: 'none here' });
  const limits = sandbox.limits ?? '';
  assert.match(limits, /the kernel enforces none: see docs\/how-to\/sandbox\.md \(none here\)$/);
  assert.ok(limits.length < 120, 'it is in the log at each start');
  const outcome = await run('python3', '-c', inFlight);
  if (outcome.status === 'unavailable') return t.skip('needs python3');
  assert.match(exited(outcome).stderr, /memfd_create.*Function not implemented|Function not implemented/s);
});

test(
  "T9 all of a command is in its group before it begins, and the kernel's word is told",
  { skip },
  async (t) => {
    const taken = new Set<string>();
    let closed = 0;
    const { run } = await open(t, {
      ok: true,
      open: () => ({
        take: async (id) => void taken.add(readFileSync(`/proc/${id}/comm`, 'utf8').trim()),
        met: () => (taken.size > 1 ? 'memory' : undefined),
        close: () => void closed++,
      }),
    });
    const outcome = await run('true');
    assert.deepEqual([...taken].sort(), ['bwrap', 'sh']);
    assert.equal(outcome.status === 'stopped' ? outcome.reason : outcome, 'memory');
    assert.equal(closed, 1);
  },
);

test('T9 a command’s group holds all of it to its limits, swap included, and ends as one', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-group-'));
  t.after(() => rm(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
  await write('cgroup.controllers', 'cpu memory pids\n');
  const groups = openCommandGroups(folder);
  assert.ok(groups.ok, JSON.stringify(groups));
  const group = groups.open(limits);
  const name = `skillet-command-${process.pid}-1`;
  const read = (file: string) => readFileSync(path.join(folder, name, file), 'utf8');
  assert.equal(read('memory.max'), String(128 * 1024 * 1024));
  assert.equal(read('memory.swap.max'), '0');
  assert.equal(read('memory.oom.group'), '1');
  assert.equal(read('pids.max'), '80');
  await group.take(4711);
  assert.equal(read('cgroup.procs'), '4711');
  assert.equal(group.met(), undefined);
  await write(`${name}/pids.events`, 'max 3\n');
  assert.equal(group.met(), 'processes');
  await write(`${name}/memory.events`, 'low 0\noom_kill 1\n');
  assert.equal(group.met(), 'memory');
});
