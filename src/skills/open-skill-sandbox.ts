import path from 'node:path';
import type { Config } from '../config/complete-config.ts';
import type { Log } from '../lib/log.ts';
import { followAvailablePackages, type AvailablePackages } from '../sandbox/packages/available-packages.ts';
import { openSandbox, type SandboxReach } from '../sandbox/open-sandbox.ts';
import {
  followRootFileSystem,
  rootFolder,
  type RootFileSystem,
} from '../sandbox/packages/root-file-system.ts';
import { createScriptPackages, type ScriptPackages } from '../sandbox/packages/script-packages.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** The sandbox that skills run in, and the root file system that it uses where one is built. */
export type SkillSandbox = Readonly<{
  sandbox: Sandbox;
  rootFileSystem(): RootFileSystem | undefined;
  /** What its commands find installed now. */
  available(): AvailablePackages;
  /** Packages that scripts list themselves (R7). */
  packages: ScriptPackages;
}>;

/** Opens the sandbox of a config as the bot has it (T9, R6); `reach` is what declared hosts stand for elsewhere than on the internet. Throws OperatorError for one that is asked for and isn't there. */
export async function openSkillSandbox(
  config: Config,
  log: Log,
  reach: SandboxReach = {},
): Promise<SkillSandbox> {
  const rootFileSystem = followRootFileSystem(rootFolder(config.bot.dataDir));
  const sandbox = await openSandbox({
    mode: config.sandbox.mode,
    limits: config.sandbox,
    rootfs: () => rootFileSystem()?.path,
    hidden: hiddenPaths(config),
    reach,
    containers: { ...config.sandbox, folder: path.join(path.resolve(config.bot.dataDir), 'containers') },
    log,
  });
  return {
    sandbox,
    rootFileSystem,
    available: followAvailablePackages({ ...sandbox, root: rootFileSystem }),
    packages: createScriptPackages({
      folder: path.join(config.bot.dataDir, 'uv'),
      hosts: () => config.sandbox.packageHosts,
    }),
  };
}

/** What no command may see, wherever it lies (T9). */
function hiddenPaths({ bot, path: file }: Config): readonly string[] {
  return [bot.dataDir, bot.workspace, ...(file === undefined ? [] : [file])];
}
