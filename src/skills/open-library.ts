import path from 'node:path';
import type { Config } from '../config/complete-config.ts';
import { wayOutOf } from '../config/way-out.ts';
import { installation } from '../lib/files/installation.js';
import type { Log } from '../lib/log.ts';
import { openSandbox, type SandboxReach } from '../sandbox/open-sandbox.ts';
import {
  followAvailablePackages,
  type AvailablePackages,
  followRootFileSystem,
  rootFolder,
  type RootFileSystem,
} from '../sandbox/packages/available-packages.ts';
import { createScriptPackages, type ScriptPackages } from '../sandbox/packages/script-packages.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { lockedSkillStore } from './install/locked-skill-store.ts';
import type { SkillRoot } from './load-skills.ts';
import { createSkillLibrary, type SkillLibrary } from './skill-library.ts';
import { readApprovals, type WrittenSkills } from './written-skills.ts';

/** Where skills are looked for, by origin (D1). `ofPlugins` are the skill folders of plugins. */
export function skillRoots(config: Config, ofPlugins: readonly string[]): readonly SkillRoot[] {
  const { skills, bot } = config;
  const bundled = path.join(installation, 'skills');
  return [
    ...(skills.bundled ? [{ origin: 'bundled', path: bundled } as const] : []),
    ...ofPlugins.map((folder) => ({ origin: 'integration', path: folder }) as const),
    { origin: 'installed', store: lockedSkillStore(bot.dataDir) },
    { origin: 'user', path: skills.userDir },
    ...(skills.agentsDir === undefined ? [] : [{ origin: 'agents', path: skills.agentsDir } as const]),
    { origin: 'agents', path: path.join(bot.workspace, '.agents', 'skills') },
    { origin: 'workspace', path: writtenRoot(config) },
  ];
}

/** The folder of skills that the bot wrote (D9), beside those of the operator. */
export function writtenRoot({ bot }: Config): string {
  return path.join(bot.workspace, 'skills');
}

export function openLibrary(
  config: Config,
  ofPlugins: readonly string[],
  written: WrittenSkills,
  log: Log,
): Promise<SkillLibrary> {
  return createSkillLibrary({
    roots: skillRoots(config, ofPlugins),
    cacheDir: path.join(config.bot.dataDir, 'cache'),
    strict: config.skills.strict,
    async approvals() {
      await written.bring(writtenRoot(config));
      return readApprovals(written, writtenRoot(config));
    },
    log,
  });
}

export type SkillSandbox = Readonly<{
  sandbox: Sandbox;
  rootFileSystem(): RootFileSystem | undefined;
  available(): AvailablePackages;
  /** Fetches the packages that scripts list (R7). */
  packages: ScriptPackages;
}>;

/**
 * Opens the sandbox for skills, and finds out what is installed in it (T9, R6). `reach` is how declared hosts are
 * reached, if not on the internet. Throws OperatorError if the config demands a sandbox that is missing.
 */
export async function openSkillSandbox(
  config: Config,
  log: Log,
  reach: SandboxReach = { connect: wayOutOf(config) },
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
  const available = followAvailablePackages({ ...sandbox, root: rootFileSystem });
  return {
    sandbox,
    rootFileSystem,
    available,
    packages: createScriptPackages({
      folder: path.join(config.bot.dataDir, 'uv'),
      hosts: () => config.sandbox.packageHosts,
      imports: (name) => available().imports(name),
    }),
  };
}

/** Paths that no command may see (T9). */
function hiddenPaths({ bot, path: file }: Config): readonly string[] {
  return [bot.dataDir, bot.workspace, ...(file === undefined ? [] : [file])];
}
