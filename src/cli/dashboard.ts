import { createInterface } from 'node:readline';
import { askControl, controlPath, isServed } from '../channels/terminal/control.ts';
import { secretsOfConfig, secretsOfProxies } from '../config/secrets-of-config.ts';
import { serveDashboard } from '../dashboard/serve-dashboard.ts';
import type { Source } from '../dashboard/page.ts';
import { OperatorError } from '../core/errors.ts';
import { once } from '../lib/async/mutex.ts';
import { systemClock } from '../lib/clock.ts';
import { createRedactor } from '../lib/redaction/redact.ts';
import { openOperate } from '../operator/operate.ts';
import { typedOperate, type Operate } from '../operator/operations.ts';
import type { SharedOptions } from './command.ts';
import { print } from './console.ts';
import { examineHere } from './doctor.ts';
import { openOperatorConfig, openStoreConfig } from './open-config.ts';
import { openLog } from './open-log.ts';

/** Serves the operator's page until Ctrl-C (S8). */
export async function dashboard({ config: flag, port, act, as }: DashboardFlags): Promise<void> {
  if (as !== undefined && act !== true) throw new OperatorError('--as answers approvals, so it needs --act.');
  const { log } = openLog(await openOperatorConfig(flag), 'warn');
  const served = await serveDashboard({
    port,
    acts: act === true ? { as } : undefined,
    open: () => openSource(flag),
    clock: systemClock,
    log,
  });
  const show = (): void =>
    print(`Open this link within a minute. The link works once:\n  ${served.newLink()}`);
  show();
  const lines = process.stdin.isTTY ? createInterface({ input: process.stdin }) : undefined;
  if (lines !== undefined) print('Enter makes a new link, Ctrl-C ends the dashboard.');
  await new Promise<void>((resolve) => {
    lines?.on('line', show).on('SIGINT', resolve);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  lines?.close();
  await served.close();
}

type DashboardFlags = SharedOptions & Readonly<{ port: number; act?: boolean; as?: string }>;

/**
 * The config as it is now, and what asks the bot. The store is opened only if no bot runs, and for one page, because a
 * bot may start any time (Q9).
 */
async function openSource(flag: string | undefined): Promise<Source> {
  const config = await openOperatorConfig(flag);
  const socket = controlPath(config.bot.dataDir);
  const openStore = once(async () => {
    const alone = await openStoreConfig(flag);
    return openOperate(alone, openLog(alone, 'warn').log);
  });
  let opened: ReturnType<typeof openStore> | undefined;
  const operate = async (name: string, input: unknown): Promise<unknown> => {
    const answer = await askControl(socket, name, input);
    if (answer !== undefined) return answer.data;
    const { operate: here } = await (opened ??= openStore());
    return (here as (name: string, input: unknown) => Promise<unknown>)(name, input);
  };
  return {
    operate: typedOperate(operate) satisfies Operate,
    examine: () => examineHere({ config: flag }),
    isRunning: await isServed(config.bot.dataDir),
    config,
    redact: createRedactor([...secretsOfConfig(config), ...secretsOfProxies(process.env)]),
    close: async () => (await opened)?.close(),
  };
}
