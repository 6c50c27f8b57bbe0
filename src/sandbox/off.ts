import path from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { createDeadline } from '../lib/async/deadline.ts';
import { killTree } from '../lib/processes/kill-processes.ts';
import { hasProgram, searchedFolders } from './inside-sandbox.ts';
import { limitsCommand } from './limits/kernel-limits.ts';
import { createRunner, runLimited, type Runner } from './limits/run-limited.ts';
import { openCapabilitySocket } from './open-capability-socket.ts';
import { placeEntries } from './own-entries.ts';
import { installProgram } from './packages/debian-packages.ts';
import {
  pausing,
  type Sandbox,
  type SandboxLimits,
  type SandboxOutcome,
  type SandboxRequest,
} from './sandbox.ts';

/**
 * Runs commands as the bot's user with all its rights (T4). Only environment and limits apply. A process that leaves
 * its group and its parents at once escapes. Linux only.
 */
export function createOffSandbox({ limits }: { limits: SandboxLimits }): Sandbox {
  const runner = createRunner();
  return {
    mode: 'off',
    limits: 'the bot checks them from time to time, the kernel enforces none',
    reachesNetwork: true,
    seen: (_, host) => host,
    run: (request) => runner.track(runHere(request, limits, runner)),
    close: runner.close,
  };
}

async function runHere(
  request: SandboxRequest,
  limits: SandboxLimits,
  runner: Runner,
): Promise<SandboxOutcome> {
  const { argv, scratch, env, programs = [] } = request;
  const deadline = createDeadline(systemClock);
  const { cap } = pausing(request.cap, deadline);
  const capSocket =
    cap === undefined ? undefined : await openCapabilitySocket(cap, { node: process.execPath });
  const own = placeEntries(request, 'link');
  try {
    const reached = [
      ...(capSocket === undefined ? [] : [capSocket.folder]),
      ...searchedFolders,
      path.dirname(process.execPath),
      ...programs.map((file) => path.dirname(file)),
    ];
    const [program] = argv;
    if (!hasProgram('/', reached, program)) {
      const message = `${program} is not there: ${installProgram(program, 'host')}`;
      return { status: 'unavailable', message };
    }
    const own = { PATH: reached.join(':'), HOME: scratch, TMPDIR: scratch, LANG: 'C.UTF-8' };
    return await runLimited(
      { argv: [...limitsCommand(limits), ...argv], env: { ...env, ...own }, cwd: scratch },
      request,
      { limits, runner, kill: killTree, deadline },
    );
  } finally {
    own.remove();
    await capSocket?.close();
  }
}
