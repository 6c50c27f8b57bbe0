import { OperatorError } from '../core/errors.ts';
import type { Log } from '../lib/log.ts';
import type { ContainerSettings } from './container/open-docker.ts';
import type { EgressProxyOptions } from './open-egress-proxy.ts';
import { whyUnmeasurable } from './limits/measurable.ts';
import type { Sandbox, SandboxLimits, SandboxMode } from './sandbox.ts';

/** Where commands may connect. By default the public internet on ports 80 and 443. */
export type SandboxReach = Pick<EgressProxyOptions, 'connect' | 'ports'>;

/**
 * Opens the sandbox. `auto` is bubblewrap if it works, otherwise virtual (T9). It logs the choice and what a better one
 * needs (T4), and loads only the one used (B4). Throws OperatorError if the configured one fails.
 */
export async function openSandbox(options: {
  mode: 'auto' | SandboxMode;
  limits: SandboxLimits;
  rootfs?: () => string | undefined;
  hidden: readonly string[];
  reach?: SandboxReach;
  containers: ContainerSettings;
  log: Log;
}): Promise<Sandbox> {
  const { mode, limits, rootfs, hidden, reach, containers, log } = options;
  const made = { limits, hidden, wayOut: { ...reach, log }, rootfs };
  switch (mode) {
    case 'virtual':
      log.info({ sandbox: mode }, `scripts run in memory, without programs or network: ${page}`);
      return (await import('./virtual/virtual.ts')).createVirtualSandbox({
        ...limits,
        better: '[sandbox] mode is "virtual"',
      });
    case 'off': {
      if (process.platform !== 'linux')
        throw new OperatorError(`[sandbox] mode = "off" needs Linux: write "virtual"`);
      await passMeasurable(mode);
      log.warn(
        { sandbox: mode },
        'the sandbox is off: scripts run as the user of the bot and may read, write and reach what it can; [sandbox] mode = "auto" contains them',
      );
      return (await import('./off.ts')).createOffSandbox({ limits });
    }
    case 'docker':
      await passMeasurable(mode);
      return (await import('./container/open-docker.ts')).openDockerSandbox({
        limits,
        containers,
        rootfs: rootfs ?? (() => undefined),
        wayOut: made.wayOut,
        log,
      });
    case 'auto':
    case 'bubblewrap': {
      const { createBubblewrapSandbox, probeBubblewrap } = await import('./bubblewrap/bubblewrap.ts');
      const probe = await probeBubblewrap(made);
      if (probe.ok) {
        const sandbox = createBubblewrapSandbox({ ...made, bwrap: probe.bwrap });
        log.info({ sandbox: 'bubblewrap' }, `scripts run in bubblewrap: ${page}`);
        log.debug({ sandbox: 'bubblewrap', limits: sandbox.limits }, 'how the limits of commands are kept');
        return sandbox;
      }
      if (mode === 'bubblewrap')
        throw new OperatorError(`[sandbox] mode = "bubblewrap": ${probe.why}. Or write mode = "auto".`);
      log.info(
        { sandbox: 'virtual', better: probe.why },
        `scripts run in memory, without programs or network: ${page}`,
      );
      return (await import('./virtual/virtual.ts')).createVirtualSandbox({ ...limits, better: probe.why });
    }
  }
}

/** Each start names the page instead of telling what stands there. */
const page = 'see docs/how-to/sandbox.md';

/** Throws OperatorError if limits can't be measured, because a command would then have none. */
async function passMeasurable(mode: SandboxMode): Promise<void> {
  const why = process.platform === 'linux' ? await whyUnmeasurable() : undefined;
  if (why !== undefined)
    throw new OperatorError(`[sandbox] mode = "${mode}": limits of commands can't be kept here. ${why}`);
}
