import { unusedTables } from '../conversations/host-diagnostics.ts';
import { existsSync } from 'node:fs';
import { accessTestsOf, readAccessTests } from '../config/access-tests.ts';
import type { Config } from '../config/complete-config.ts';
import type { Diagnostic } from '../core/codes.ts';
import { OperatorError } from '../core/errors.ts';
import { runAccessTests } from '../operator/access/run-access-tests.ts';
import { quietLog } from './skills-here.ts';
import { formatConfigProblem } from '../config/config-problem.ts';
import { maskedConfig, showConfig } from '../config/secrets-of-config.ts';
import type { Registry } from '../skills/registry.ts';
import { loadSkills } from '../skills/load-skills.ts';
import type { SharedOptions } from './command.ts';
import { openConfig, parseHere } from './open-config.ts';
import { print, printJson, printText } from './console.ts';
import { useNetwork } from './use-network.ts';
import { tryParts } from './look-around.ts';
import { configSlips } from '../operator/check-people.ts';
import { diagnosticLine, startChecks } from '../operator/check-start.ts';

/**
 * Checks what a start would check: file, machine, plugins, providers and tables of skills (G2, X6, C1, S1). Exit code 1
 * for problems.
 */
export async function checkConfig({ config: flag, json }: SharedOptions): Promise<void> {
  const parsed = await parseHere(flag);
  if (parsed.ok) useNetwork(parsed.config);
  const problems = parsed.ok ? [] : parsed.problems;
  const {
    plugins = [],
    diagnostics = [],
    slips = [],
  } = parsed.ok ? await lookForProblems(parsed.config) : {};
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
  if (!parsed.ok) return printText(problems.map(formatConfigProblem).join('\n'));
  for (const { name, tools } of plugins) printText(`plugin ${name}: ${tools.join(', ')}`);
  for (const one of [...diagnostics, ...slips]) printText(diagnosticLine(one));
  if (!ok) return;
  printText(
    parsed.config.path === undefined
      ? 'There is no config file: every key has its default.'
      : `${parsed.config.path} is fine.`,
  );
}

/** Problems besides those of the file. A table for a skill that is not there is only a slip. */
async function lookForProblems(config: Config) {
  const ofMachine = await startChecks(config);
  const { roots, plugins, diagnostics } = await tryParts(config);
  const expectations = config.path === undefined ? undefined : accessTestsOf(config.path);
  const isTested = expectations !== undefined && existsSync(expectations);
  const named = Object.keys(config.skills.byName).length > 0;
  const registry = named || isTested ? await loadSkills(roots) : undefined;
  const unused = registry !== undefined && named ? unusedTables(registry.skills, config) : [];
  const slips = [...unused, ...configSlips(config)];
  const unmet =
    registry !== undefined && isTested ? await unmetExpectations(config, expectations, registry) : [];
  return { plugins, diagnostics: [...ofMachine, ...diagnostics, ...unmet], slips };
}

/** The expectations of `access.tests.toml` that are not met (L14). */
async function unmetExpectations(
  config: Config,
  place: string,
  registry: Registry,
): Promise<readonly Diagnostic[]> {
  const failed = (message: string): Diagnostic => ({
    level: 'error',
    code: 'ACCESS_TEST_FAILED',
    message,
    path: place,
  });
  try {
    const results = await runAccessTests(config, { tests: readAccessTests(place), registry, log: quietLog });
    return results
      .filter(({ passed }) => !passed)
      .map(({ what, expected, ruling }) => failed(`${what}: expected ${expected}, but ${ruling.reason}`));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [failed(error.message)];
  }
}

/** Prints the config, with its secrets masked (G5). */
export async function showConfiguration({ config: flag, json }: SharedOptions): Promise<void> {
  const config = await openConfig(flag);
  if (json === true) printJson(maskedConfig(config));
  else print(showConfig(config));
}
