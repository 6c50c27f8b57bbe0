import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { CapAnswer, Sandbox, SandboxLimits, ServeCap } from '../../src/sandbox/sandbox.ts';
import { ownTemporary } from './own-temporary.ts';
import { contractLimits, exited, makeGround, requestOf, type Ground } from './sandbox-contract.ts';

/** How `skillet-cap` is for commands, whatever a sandbox is made of (C4). */
export function testSandboxCap(
  name: string,
  {
    open,
    skip = false,
    waits = true,
    timeoutMs = 5_000,
  }: Readonly<{
    open(limits: SandboxLimits): Sandbox;
    skip?: string | false;
    /** Whether it has a way of its own to count time. */ waits?: boolean;
    /** Time of one command, its start included. */
    timeoutMs?: number;
  }>,
): void {
  const roots: string[] = [];
  const made: { ground?: Ground; sandbox?: Sandbox } = {};
  before(async () => {
    if (skip !== false) return;
    made.ground = await makeGround(roots);
    made.sandbox = open(contractLimits);
  });
  after(async () => {
    await made.sandbox?.close();
    await Promise.all(roots.map((root) => rm(root, { recursive: true, force: true })));
  });

  async function run(script: string, cap?: ServeCap, more: Readonly<{ timeoutMs?: number }> = {}) {
    assert.ok(made.ground && made.sandbox);
    const argv = ['sh', '-c', script] as const;
    const request = { argv, ...(cap === undefined ? {} : { cap }), ...more };
    return made.sandbox.run(requestOf(made.sandbox, made.ground, request));
  }
  const answer = (stdout: string, exitCode = 0): CapAnswer => ({ stdout, stderr: '', exitCode });

  test(
    `C4 ${name}: words and standard input reach the host, what it says and its code come back`,
    { skip },
    async () => {
      const heard: unknown[] = [];
      const serve: ServeCap = async (words, input) => {
        heard.push([words, input]);
        return { stdout: 'ünï\n', stderr: 'words for people\n', exitCode: 7 };
      };
      const script = `printf '{"text":"it’s $HOME"}' | skillet-cap invoke notes.book add --account 'a b'; echo "code $?"; printf '{}' | ash-sb capability invoke notes.book list; skillet-cap list`;
      const { stdout, stderr, exitCode } = exited(await run(script, serve));
      assert.deepEqual({ stdout, exitCode }, { stdout: 'ünï\ncode 7\nünï\nünï\n', exitCode: 7 });
      assert.equal(stderr, 'words for people\n'.repeat(3));
      assert.deepEqual(heard, [
        [['invoke', 'notes.book', 'add', '--account', 'a b'], '{"text":"it’s $HOME"}'],
        [['invoke', 'notes.book', 'list'], '{}'],
        [['list'], ''],
      ]);
    },
  );

  test(
    `C4 ${name}: a command that is not handed it has none, and leaves nothing behind`,
    { skip },
    async (t) => {
      const temporary = ownTemporary(t);
      const left = async () => (await readdir(temporary)).filter((each) => each.startsWith('skillet-cap-'));
      const before = await left();
      assert.equal(exited(await run('skillet-cap list', async () => answer('x'))).stdout, 'x');
      assert.deepEqual(await left(), before);
      const { exitCode, stdout } = exited(await run('skillet-cap list'));
      assert.deepEqual([exitCode, stdout], [127, '']);
    },
  );

  test(
    `C4 ${name}: the time of a command stands still while the host works for it`,
    { skip: skip || !waits },
    async () => {
      const slow: ServeCap = async (_words, _input, signal) => {
        // Longer than the command has in all.
        await new Promise((resolve) => setTimeout(resolve, timeoutMs + 1_000));
        signal.throwIfAborted();
        return answer('at last\n');
      };
      const { stdout } = exited(await run('skillet-cap list', slow, { timeoutMs }));
      assert.equal(stdout, 'at last\n');
    },
  );

  test(
    `C4 ${name}: a fault of the host is exit code 3, and long answers arrive whole`,
    { skip },
    async () => {
      const fails: ServeCap = async () => {
        throw new Error('secret cause');
      };
      const failed = exited(await run('skillet-cap list', fails));
      assert.deepEqual([failed.exitCode, failed.stdout], [3, '']);
      assert.doesNotMatch(failed.stderr, /secret/);
      const long = async (): Promise<CapAnswer> => answer('x'.repeat(300_000));
      assert.equal(exited(await run('skillet-cap list | wc -c', long)).stdout.trim(), '300000');
    },
  );
}
