import { existsSync } from 'node:fs';
import { askControl, controlPath } from '../channels/terminal/control.ts';
import type { Config } from '../config/complete-config.ts';
import { OperatorError } from '../core/errors.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { nearest } from '../lib/text/text.ts';
import { allTools } from '../features/list.ts';
import { openPlugins, type Plugins } from '../features/plugins/plugins.ts';
import { loadSkills } from '../skills/load-skills.ts';
import { skillRoots, writtenRoot } from '../skills/open-library.ts';
import type { Registry } from '../skills/registry.ts';
import { readApprovals, type IsApproved, type WrittenSkill } from '../skills/written-skills.ts';
import { askBot } from './ask-bot.ts';
import { skilletHere } from '../core/skillet-here.ts';

export type SkillsHere = Registry & Readonly<{ plugins: Plugins['loaded'] }>;

/** Where the skills of this config are, with those of its plugins (X1, X6). */
export async function skillRootsHere(config: Config) {
  const plugins = await openPlugins(config, { builtInTools: allTools(), clock: systemClock, log: quietLog });
  plugins.close();
  const { loaded, skillFolders, diagnostics } = plugins;
  return { roots: skillRoots(config, skillFolders), plugins: loaded, diagnostics };
}

export async function skillsHere(config: Config, approvals?: () => Promise<IsApproved>): Promise<SkillsHere> {
  const { roots, plugins, diagnostics } = await skillRootsHere(config);
  const registry = await loadSkills(roots, { strict: config.skills.strict, approvals });
  return { ...registry, diagnostics: [...diagnostics, ...registry.diagnostics], plugins };
}

/** A log for commands that only look, because a start logs the same again. */
export const quietLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

function nothing(): void {
  return undefined;
}

export function noSuchSkill(name: string, names: readonly string[]): OperatorError {
  const near = nearest(name, names);
  const help = near.length === 0 ? `See \`${skilletHere()} skill list\`.` : `Near: ${near.join(', ')}.`;
  return new OperatorError(`There is no skill "${name}". ${help}`);
}

/**
 * The approvals of skills that the bot wrote. If neither the bot nor the store can tell, none of them counts as
 * approved (D9).
 */
export async function writtenApprovals(config: Config, flag: string | undefined): Promise<IsApproved> {
  const records = await readWrittenSkills(config, flag).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    console.error(
      `What was approved of the bot's own skills can't be read, so they are shown as off: ${why}`,
    );
    return [];
  });
  return readApprovals(
    { all: async () => new Map(records.map((one) => [one.name, one])) },
    writtenRoot(config),
  );
}

export async function readWrittenSkills(
  config: Config,
  flag: string | undefined,
): Promise<readonly WrittenSkill[]> {
  const file = /^sqlite:(.+)$/.exec(config.store.url)?.[1];
  // A command that only looks at skills must not create the store.
  if (file !== undefined && !existsSync(file)) {
    const asked = await askControl(controlPath(config.bot.dataDir), 'skill written');
    return (asked?.data ?? []) as readonly WrittenSkill[];
  }
  return askBot(flag, 'skill written');
}
