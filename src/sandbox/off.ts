import path from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { createDeadline } from '../lib/async/deadline.ts';
import { installProgram } from './packages/debian-packages.ts';
import { hasProgram } from './find-program.ts';
import { inheritedDescriptors, createPipes } from './bubblewrap/handshake.ts';
import { killTree } from '../lib/processes/kill-processes.ts';
import { limitsCommand } from './limits/limits-command.ts';
import { openCapabilitySocket } from './open-capability-socket.ts';
import { pausing } from './container/pausing.ts';
import { runLimited } from './limits/run-limited.ts';
import type { Sandbox, SandboxLimits, SandboxOutcome, SandboxRequest } from './sandbox.ts';

const searched = ['/usr/local/bin', '/usr/bin', '/bin'];

/**
 * No sandbox: commands run as the bot's own user, with all that it may read, write and reach (T4). They have the
 * declared environment only, a process group of their own, and the limits of time, memory, processes and disk.
 * What leaves its group and its parents at once is not found again. Linux only.
 */
export function createOffSandbox({ limits }: { limits: SandboxLimits }): Sandbox {
  const folders = [...searched, path.dirname(process.execPath)];
  const pipes = createPipes();
  const covered = inheritedDescriptors();
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();

  return {
    mode: 'off',
    limits: 'all are watched, none is enforced by the kernel',
    reachesNetwork: true,
    seen: (_, host) => host,
    async run(request) {
      const ran = runHere(request);
      running.add(ran);
      try {
        return await ran;
      } finally {
        running.delete(ran);
      }
    },
    async close() {
      ending.abort();
      await Promise.allSettled(running);
      pipes.close();
      covered.close();
    },
  };

  async function runHere(request: SandboxRequest): Promise<SandboxOutcome> {
    const { argv, scratch, env, programs = [] } = request;
    const deadline = createDeadline(systemClock);
    const { cap } = pausing(request.cap, deadline);
    const capDoor =
      cap === undefined ? undefined : await openCapabilitySocket(cap, { node: process.execPath });
    try {
      const reached = [
        ...(capDoor === undefined ? [] : [capDoor.folder]),
        ...folders,
        ...programs.map((file) => path.dirname(file)),
      ];
      const [program] = argv;
      if (!hasProgram('/', reached, program)) {
        const message = `${program} is not there: ${installProgram(program, 'host')}`;
        return { status: 'unavailable', message };
      }
      const own = { PATH: reached.join(':'), HOME: scratch, TMPDIR: scratch, LANG: 'C.UTF-8' };
      return await runLimited(
        {
          argv: [...limitsCommand(limits), ...argv],
          env: { ...env, ...own },
          cwd: scratch,
        },
        { ...request, signal: AbortSignal.any([request.signal, ending.signal]) },
        { limits, pipes, covered, kill: killTree, deadline },
      );
    } finally {
      await capDoor?.close();
    }
  }
}
