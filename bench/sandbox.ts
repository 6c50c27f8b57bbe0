import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createBubblewrapSandbox, probeBubblewrap } from '../src/sandbox/bubblewrap/bubblewrap.ts';

const limits = { memoryMb: 1_024, cpuSeconds: 120, processes: 128, diskMb: 1_024 };

/** Milliseconds of `true`, started by itself and as a command of a run in bubblewrap; why there are none where it doesn't work. */
export async function measureSandbox(
  times: number,
): Promise<Readonly<{ bare: readonly number[]; bubblewrap: readonly number[] }> | string> {
  const probe = await probeBubblewrap({ limits });
  if (!probe.ok) return probe.why;
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-bench-'));
  const folder = async (name: string): Promise<string> => {
    await mkdir(path.join(root, name));
    return path.join(root, name);
  };
  const sandbox = createBubblewrapSandbox({ bwrap: probe.bwrap, limits });
  const request = {
    argv: ['true'] as const,
    skillDirectory: await folder('skill'),
    scratch: await folder('scratch'),
    chat: await folder('chat'),
    network: [],
    env: {},
    timeoutMs: 10_000,
    outputCap: 1_000,
    signal: new AbortController().signal,
  };
  const bare: number[] = [];
  const bubblewrap: number[] = [];
  for (let n = -5; n < times; n++) {
    const began = performance.now();
    await once(spawn('/usr/bin/true', { stdio: ['ignore', 'pipe', 'pipe'], env: {} }), 'close');
    const between = performance.now();
    const outcome = await sandbox.run(request);
    if (outcome.status !== 'exited' || outcome.exitCode !== 0) throw new Error(JSON.stringify(outcome));
    if (n < 0) continue;
    bare.push(between - began);
    bubblewrap.push(performance.now() - between);
  }
  await sandbox.close();
  await rm(root, { recursive: true });
  return { bare, bubblewrap };
}
