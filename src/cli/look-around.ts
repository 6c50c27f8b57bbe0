import { configuredProviders } from '../features/capabilities/configured-providers.ts';
import type { Config } from '../config/complete-config.ts';
import type { Diagnostic } from '../core/codes.ts';
import { OperatorError } from '../core/errors.ts';
import { tryDataDir } from '../operator/own-data-dir.ts';
import { loadSkills } from '../skills/load-skills.ts';
import { openSkillSandbox } from '../skills/open-library.ts';
import { quietLog, skillRootsHere, writtenApprovals } from './skills-here.ts';

/** Tries what a start would try besides its checks: data directory, sandbox, plugins and providers. */
export async function tryParts(config: Config) {
  const ofMachine = await tryToOpen(config);
  const { roots, plugins, diagnostics } = await skillRootsHere(config);
  const unused = configuredProviders(config).problems.map((message): Diagnostic => ({
    level: 'warning',
    code: 'PROVIDER_UNUSED',
    message,
  }));
  return { roots, plugins, diagnostics: [...ofMachine, ...diagnostics, ...unused] };
}

/** Tries the same as `tryParts`, and loads every skill. */
export async function lookAround(config: Config, flag: string | undefined) {
  const { roots, diagnostics } = await tryParts(config);
  const approvals = () => writtenApprovals(config, flag);
  const registry = await loadSkills(roots, { strict: config.skills.strict, approvals });
  return { registry, diagnostics };
}

/** Opens the data directory and the sandbox as a start would. */
async function tryToOpen(config: Config): Promise<readonly Diagnostic[]> {
  try {
    tryDataDir(config.bot.dataDir);
    if (config.sandbox.mode === 'auto') return [];
    const { sandbox } = await openSkillSandbox(config, quietLog);
    await sandbox.close();
    return [];
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [{ level: 'error', code: 'START_REFUSED', message: error.message }];
  }
}
