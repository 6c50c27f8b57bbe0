import { unusedTables } from '../conversations/host-diagnostics.ts';
import type { Config } from '../config/complete-config.ts';
import { formatConfigProblem } from '../config/config-problem.ts';
import { maskedConfig, showConfig } from '../config/secrets-of-config.ts';
import { loadSkills } from '../skills/load-skills.ts';
import type { Shared } from './command.ts';
import { openConfig, parseHere } from './open-config.ts';
import { print, printJson } from './console.ts';
import { tryParts } from './look-around.ts';
import { diagnosticLine, startChecks } from '../operator/check-start.ts';

/** Checks the file, machine, plugins, providers, skill tables as start would (G2, X6, C1, S1). Exit 1 for problems. */
export async function checkConfig({ config: flag, json }: Shared): Promise<void> {
  const parsed = await parseHere(flag);
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
async function lookForProblems(config: Config) {
  const ofMachine = await startChecks(config);
  const { roots, plugins, diagnostics } = await tryParts(config);
  const named = Object.keys(config.skills.byName).length > 0;
  const slips = named ? unusedTables((await loadSkills(roots)).skills, config) : [];
  return { plugins, diagnostics: [...ofMachine, ...diagnostics], slips };
}

/** Secrets masked (G5). */
export async function showConfiguration({ config: flag, json }: Shared): Promise<void> {
  const config = await openConfig(flag);
  if (json === true) printJson(maskedConfig(config));
  else print(showConfig(config));
}
