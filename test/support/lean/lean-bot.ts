import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startBotProcess, type BotProcess } from '../crash/bot-process.ts';
import type { Machine } from '../machines/network.ts';
import type { LeanPlatform } from './lean-platform.ts';

/** A folder with config and data of its own, in which one process of the bot after the other may run. */
export type LeanHome = Readonly<{
  /** Resolves when it is ready; rejects when it ended before. */
  start(): Promise<BotProcess>;
  remove(): Promise<void>;
}>;

/** `store` is the url of a store, without one an SQLite file here; processes that share one share a `workspace` unless each has a `machine`; `prepare` is called with the folder before. */
export async function makeLeanHome(
  platform: LeanPlatform,
  options: Readonly<{
    name: string;
    store?: string;
    workspace?: string;
    machine?: Machine;
    concurrency: number;
    /** Keep to Telegram's limits; not, where it is not said. */
    paced?: boolean;
    prepare?(home: string): Promise<void>;
  }>,
): Promise<LeanHome> {
  const { name, store, workspace, machine, concurrency, paced = false, prepare } = options;
  const folder = machine?.folder ?? (await mkdtemp(path.join(tmpdir(), 'skillet-lean-')));
  const reached = machine?.reach(folder) ?? folder;
  await mkdir(path.join(reached, 'data'), { mode: 0o700 });
  const url = platform.urlOf(name);
  const lines = [
    `[agent]\nconcurrency = ${concurrency}`,
    `[telegram]\ntoken = "${platform.token}"\napi_root = "${url}"\npaced = ${paced}`,
    '[access]\ndm = "open"',
    '[log]\nlevel = "info"\nformat = "json"',
    `[models.default]\nmodel = "lean"\nbase_url = "${url}"\napi_key = "lean-key-1234"`,
    ...(store === undefined ? [] : [`[store]\nurl = "${store}"`]),
    ...(workspace === undefined ? [] : [`[bot]\nworkspace = "${workspace}"`]),
  ];
  const config = path.join(folder, 'config.toml');
  await writeFile(path.join(reached, 'config.toml'), lines.join('\n'), { mode: 0o600 });
  await prepare?.(reached);
  return {
    async start() {
      // The flags are those of `npm start`.
      const flags = ['--max-semi-space-size=4', '--expose-gc'];
      const bot = startBotProcess({ folder, config, flags, within: machine?.within ?? [] });
      if (!(await bot.ready)) throw new Error(`the bot ended: ${bot.errors().join('\n')}`);
      return bot;
    },
    remove: () => rm(reached, { recursive: true, force: true }).catch(() => undefined),
  };
}
