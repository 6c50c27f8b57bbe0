import { skillRoots } from '../skills/open-library.ts';
import { openPlugins, type Plugins } from '../plugins/plugins.ts';
import type { Config } from '../config/complete-config.ts';
import { systemClock } from '../lib/clock.ts';
import type { Diagnostic } from '../core/codes.ts';
import type { Log } from '../lib/log.ts';
import type { SkillRoot } from '../skills/load-skills.ts';

/** Where this config's skills are, those of its plugins included; they are loaded for that, as at start (X1, X6). */
export async function skillsHere(config: Config): Promise<
  Readonly<{
    roots: readonly SkillRoot[];
    plugins: Plugins['loaded'];
    diagnostics: readonly Diagnostic[];
  }>
> {
  const plugins = await openPlugins(config, { clock: systemClock, log: quietLog });
  plugins.close();
  const { loaded, skillFolders, diagnostics } = plugins;
  return { roots: skillRoots(config, skillFolders), plugins: loaded, diagnostics };
}

/** What is said while parts of the bot are looked at is said again at start. */
export const quietLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

function nothing(): void {
  return undefined;
}
