import path from 'node:path';
import type { Config } from '../config/complete-config.ts';
import type { Log } from '../lib/log.ts';
import { lockedSkillStore } from './install/locked-skill-store.ts';
import type { SkillRoot } from './parse/read-roots.ts';
import { createSkillLibrary, type SkillLibrary } from './skill-library.ts';
import { readApprovals, type WrittenSkills } from './written-skills.ts';

/** Where this config's skills are, by origin (D1); `ofPlugins` are the folders that plugins bring. The user's folder is the operator's own hand. */
export function skillRoots({ skills, bot }: Config, ofPlugins: readonly string[]): readonly SkillRoot[] {
  const bundled = path.join(import.meta.dirname, '../../skills');
  return [
    ...(skills.bundled ? [{ origin: 'bundled', path: bundled } as const] : []),
    ...ofPlugins.map((folder) => ({ origin: 'integration', path: folder }) as const),
    { origin: 'installed', store: lockedSkillStore(bot.dataDir) },
    { origin: 'user', path: skills.userDir },
    { origin: 'workspace', path: writtenRoot({ bot }) },
  ];
}

/** The folder that the bot may write skills into (D9), the operator's own beside them. */
export function writtenRoot({ bot }: Pick<Config, 'bot'>): string {
  return path.join(bot.workspace, 'skills');
}

/** Reads the skills of a config. */
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
    approvals: () => readApprovals(written, writtenRoot(config)),
    log,
  });
}
