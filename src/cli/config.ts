import { unusedTables } from '../conversations/host-diagnostics.ts';
import { openSkillSandbox } from '../skills/open-library.ts';
import { tryDataDir } from '../operator/own-data-dir.ts';
import { configuredProviders } from '../capabilities/configured-providers.ts';
import type { Config } from '../config/complete-config.ts';
import { formatConfigProblem } from '../config/config-problem.ts';
import { loadConfig } from '../config/load-config.ts';
import { maskedConfig, showConfig } from '../config/secrets-of-config.ts';
import type { Diagnostic } from '../core/codes.ts';
import { OperatorError } from '../core/errors.ts';
import { loadSkills } from '../skills/load-skills.ts';
import type { Shared } from './command.ts';
import { openConfig } from './open-config.ts';
import { print, printJson } from './console.ts';
import { quietLog, skillRootsHere } from './skills-here.ts';
import { diagnosticLine, startChecks } from '../operator/check-start.ts';

/** Checks the file, machine, plugins, providers, skill tables as start would (G2, X6, C1, S1). Exit 1 for problems. */
export async function checkConfig({ config: flag, json }: Shared): Promise<void> {
  const parsed = await loadConfig({ flag, env: process.env });
  const problems = parsed.ok ? [] : parsed.problems;
  const { plugins = [], diagnostics = [], slips = [] } = parsed.ok ? await lookAround(parsed.config) : {};
  const ok = parsed.ok && diagnostics.length === 0;
  if (!ok) process.exitCode = 1;
  if (json === true)
    return printJson({
      ok,
      path: parsed.ok ? parsed.config.path : undefined,
      problems,
      plugins,
      diagnostics: [...diagnostics, ...slips],
    });
  if (!parsed.ok) return print(problems.map(formatConfigProblem).join('\n'));
  for (const { name, tools } of plugins) print(`plugin ${name}: ${tools.join(', ')}`);
  for (const one of [...diagnostics, ...slips]) print(diagnosticLine(one));
  if (!ok) return;
  print(
    parsed.config.path === undefined
      ? 'No config file was found: everything is at its default.'
      : `${parsed.config.path} is fine.`,
  );
}

/** A table for an absent skill is only a slip. */
async function lookAround(config: Config) {
  const ofMachine = [...(await startChecks(config)), ...(await tryToOpen(config))];
  const { roots, plugins, diagnostics } = await skillRootsHere(config);
  const unused = configuredProviders(config).problems.map((message): Diagnostic => ({
    level: 'warning',
    code: 'PROVIDER_UNUSED',
    message,
  }));
  const named = Object.keys(config.skills.byName).length > 0;
  const slips = named ? unusedTables((await loadSkills(roots)).skills, config) : [];
  return { plugins, diagnostics: [...ofMachine, ...diagnostics, ...unused], slips };
}

/** Tries data directory and sandbox. */
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

/** Secrets masked (G5). */
export async function showConfiguration({ config: flag, json }: Shared): Promise<void> {
  const config = await openConfig(flag);
  if (json === true) printJson(maskedConfig(config));
  else print(showConfig(config));
}
