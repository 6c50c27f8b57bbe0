import assert from 'node:assert/strict';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { StopReason } from '../../src/sandbox/sandbox.ts';
import { exited, makeGround, requestOf, type Ground, type SandboxUnderTest } from './sandbox-contract.ts';
import { until } from './until.ts';

const limits = { memoryMb: 300, cpuSeconds: 60, processes: 64, diskMb: 1 };
/** On a machine with much else to do whatever a command does takes longer, and more processor time. */
const timeoutMs = 200_000;

/** What ends commands in sandboxes that run programs of the system: each limit, by its name. */
export function testSandboxLimits(
  name: string,
  { open, skip = false }: Omit<SandboxUnderTest, 'contains'>,
): void {
  const made: { ground?: Ground } = {};
  const roots: string[] = [];
  const sandbox = skip === false ? open(limits) : undefined;
  const hasty = skip === false ? open({ ...limits, cpuSeconds: 2 }) : undefined;
  before(async () => {
    if (skip === false) made.ground = await makeGround(roots);
  });
  after(async () => {
    await Promise.all([sandbox?.close(), hasty?.close()]);
    await Promise.all(roots.map((root) => rm(root, { recursive: true, force: true })));
  });
  const run = async (
    script: string,
    within = sandbox,
  ): Promise<Readonly<{ ended: unknown; ground: Ground }>> => {
    assert.ok(made.ground && within);
    const { scratch, chat } = made.ground;
    for (const folder of [scratch, chat]) {
      for (const each of await readdir(folder)) await rm(path.join(folder, each), { recursive: true });
    }
    const argv = ['sh', '-c', `chat="$1"; ${script}`, 'sh', within.seen('chat', chat)] as const;
    const outcome = await within.run(requestOf(within, made.ground, { argv, timeoutMs }));
    return { ended: outcome.status === 'stopped' ? outcome.reason : outcome, ground: made.ground };
  };

  const cases: readonly (readonly [string, StopReason, string])[] = [
    ['too many processes', 'processes', 'i=0; while [ $i -lt 100 ]; do sleep 300 & i=$((i+1)); done; wait'],
    [
      'memory spread over processes',
      'memory',
      `for i in 1 2 3 4; do node -e 'globalThis.x = Buffer.alloc(9e7, 1); setTimeout(() => 0, 300000)' & done; wait`,
    ],
    [
      'processor time of several processes',
      'cpu',
      '(while :; do :; done) & (while :; do :; done) & while :; do :; done',
    ],
    ['one large file', 'disk', 'head -c 20000000 /dev/zero > big'],
    [
      'many files in the conversation folder',
      'disk',
      'for i in 1 2 3; do head -c 800000 /dev/zero > "$chat/$i"; done; sleep 300',
    ],
    ['endless empty files', 'disk', 'i=0; while [ $i -lt 2500 ]; do : > $i; i=$((i+1)); done; sleep 300'],
    [
      'files that are kept open without a name',
      'disk',
      'for i in 1 2 3; do (exec 3> f; rm f; head -c 800000 /dev/zero >&3; sleep 300) & sleep 0.05; done; wait',
    ],
    ['a gigabyte of output', 'output', 'head -c 1000000000 /dev/zero'],
  ];
  for (const [what, reason, script] of cases) {
    test(`T9 ${name}: ${what} ends a command, and the reason is said`, { skip }, async () => {
      assert.equal((await run(script, reason === 'cpu' ? hasty : sandbox)).ended, reason);
    });
  }

  test(
    `T9 ${name}: a conversation folder that is full already stops nobody who leaves it so`,
    { skip },
    async () => {
      assert.ok(made.ground && sandbox);
      await writeFile(path.join(made.ground.chat, 'full'), Buffer.alloc(6_000_000, 1));
      const request = requestOf(sandbox, made.ground, { argv: ['sh', '-c', 'sleep 0.4; echo fine'] });
      assert.equal(exited(await sandbox.run(request)).stdout, 'fine\n');
    },
  );

  test(
    `T10 T9 ${name}: what is written to the conversation folder faster than anybody looks is told and taken away`,
    { skip },
    async () => {
      const { ended, ground } = await run(
        'head -c 600000 /dev/zero > "$chat/a"; sleep 0.02; for i in b c d; do head -c 600000 /dev/zero > "$chat/$i"; done',
      );
      assert.equal(ended, 'disk');
      assert.deepEqual(await readdir(ground.chat), ['a']);
    },
  );

  test(
    `R5 T9 ${name}: what a command left running ends with it, also where it holds the output open`,
    { skip },
    async () => {
      const { ended } = await run('sleep 61.5173 & echo done');
      assert.equal(exited(ended as Parameters<typeof exited>[0]).stdout, 'done\n');
      await until(async () => !(await isRunning('61.5173')));
    },
  );
}

/** Whether some process of this system has the text in its command line. */
export async function isRunning(text: string): Promise<boolean> {
  const ids = (await readdir('/proc')).filter((id) => /^\d+$/.test(id));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
  return lines.some((line) => line.includes(text));
}
