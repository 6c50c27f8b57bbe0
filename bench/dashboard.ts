import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { enter } from '../test/support/visit-dashboard.ts';
import { openStage } from './stage.ts';

const root = path.join(import.meta.dirname, '..');

/** What bot and dashboard spend while browsers watch the overview: milliseconds of processor time a second. */
export type Watched = Readonly<{ browsers: number; bot: number; dashboard: number }>;

/** Watches the live overview of a bot that answered `turns` messages, for `seconds` with each number of browsers. */
export async function watchOverview(
  counts: readonly number[],
  turns: number,
  seconds: number,
): Promise<readonly Watched[]> {
  const stage = await openStage({ bot: 'skillet', modelMs: 0 });
  const ann = stage.telegram.person({ name: 'Ann' });
  for (let turn = 0; turn < turns; turn++) {
    ann.says(`question ${turn}`);
    await ann.dm.nextMessage();
  }
  const command = [path.join(root, 'bin/skillet.js'), 'dashboard', '--config', `${stage.home}/config.toml`];
  const child = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    let link = '';
    for await (const line of createInterface({ input: child.stdout }))
      if ((link = /http:\S+/.exec(line)?.[0] ?? '') !== '') break;
    const { origin, cookie } = await enter(link);
    const watch = () =>
      get(`${origin}/live?page=%2F`, { headers: { cookie } }, (response) => response.resume());
    const found: Watched[] = [];
    for (const browsers of counts) {
      const open = Array.from({ length: browsers }, watch);
      // The first looks cost more, because they fill caches.
      await delay(2_000);
      const spent = async () => [await processorMs(stage.pid), await processorMs(child.pid)] as const;
      const before = await spent();
      await delay(seconds * 1_000);
      const after = await spent();
      found.push({
        browsers,
        bot: (after[0] - before[0]) / seconds,
        dashboard: (after[1] - before[1]) / seconds,
      });
      for (const one of open) one.on('error', () => undefined).destroy();
    }
    return found;
  } finally {
    child.kill('SIGKILL');
    await ended;
    await stage.close();
  }
}

/** Linux only. Its clock ticks 100 times a second. */
async function processorMs(pid: number | undefined): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
