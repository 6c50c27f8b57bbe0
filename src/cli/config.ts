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
import { diagnosticLine, startChecks } from './start-checks.ts';

/** `config check`: what start would say of the file, of this machine (ports, programs, folders, the sandbox), of plugins, of capability providers and of tables for skills that are not there (G2, X6, C1, S1). Exit 1 where anything is wrong. */
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

/** What only shows beside the file. A table for a skill that may come yet is no fault. */
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

/** Does what start does with the data directory and the sandbox, and undoes it. */
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

/** `config show`: every key in force, secrets masked (G5). */
export async function showConfiguration({ config: flag, json }: Shared): Promise<void> {
  const config = await openConfig(flag);
  if (json === true) printJson(maskedConfig(config));
  else print(showConfig(config));
}
