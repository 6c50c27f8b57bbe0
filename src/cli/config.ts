import { unusedTables } from '../app/host-diagnostics.ts';
import { configuredProviders } from '../capabilities/configured-providers.ts';
import type { Config } from '../config/complete-config.ts';
import { formatConfigProblem } from '../config/config-problem.ts';
import { loadConfig } from '../config/load-config.ts';
import { maskedConfig, showConfig } from '../config/masked-config.ts';
import { loadSkills } from '../skills/load-skills.ts';
import type { ReadOptions } from './options.ts';
import { openConfig } from './open-config.ts';
import { print, printJson } from './print.ts';
import { skillsHere } from './skills-here.ts';

/** `config check`: what start would say of the file, of the plugins it lists, of capability providers and of tables for skills that are not there (G2, X6, C1, S1). Exit 1 where anything is wrong. */
export async function checkConfig({ config: flag, json }: ReadOptions): Promise<void> {
  const parsed = await loadConfig({ flag, env: process.env });
  const problems = parsed.ok ? [] : parsed.problems;
  const {
    plugins = [],
    diagnostics: ofSkills = [],
    slips = [],
  } = parsed.ok ? await lookAround(parsed.config) : {};
  const unused = parsed.ok ? configuredProviders(parsed.config).problems : [];
  const diagnostics = [
    ...ofSkills,
    ...unused.map((message) => ({ level: 'warning', code: 'PROVIDER_UNUSED', message }) as const),
  ];
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
  for (const { level, code, message } of [...diagnostics, ...slips]) print(`${level} ${code}: ${message}`);
  if (!ok) return;
  print(
    parsed.config.path === undefined
      ? 'No config file was found: everything is at its default.'
      : `${parsed.config.path} is fine.`,
  );
}

/** What only shows beside the file: its plugins and skills. A table for a skill that may come yet is no fault. */
async function lookAround(config: Config) {
  const { roots, plugins, diagnostics } = await skillsHere(config);
  const named = Object.keys(config.skills.byName).length > 0;
  const slips = named ? unusedTables((await loadSkills(roots)).skills, config) : [];
  return { plugins, diagnostics, slips };
}

/** `config show`: every key in force, secrets masked (G5). */
export async function showConfiguration({ config: flag, json }: ReadOptions): Promise<void> {
  const config = await openConfig(flag);
  if (json === true) printJson(maskedConfig(config));
  else print(showConfig(config));
}
