import { configuredProviders } from '../capabilities/configured-providers.ts';
import { formatConfigProblem } from '../config/config-problem.ts';
import { loadConfig } from '../config/load-config.ts';
import { maskedConfig, showConfig } from '../config/masked-config.ts';
import type { ReadOptions } from './options.ts';
import { openConfig } from './open-config.ts';
import { print, printJson } from './print.ts';
import { skillsHere } from './skills-here.ts';

/** `config check`: what start would say of the file, of the plugins it lists and of capability providers (G2, X6, C1). Exit 1 where anything is wrong. */
export async function checkConfig({ config: flag, json }: ReadOptions): Promise<void> {
  const parsed = await loadConfig({ flag, env: process.env });
  const problems = parsed.ok ? [] : parsed.problems;
  const { plugins = [], diagnostics: ofSkills = [] } = parsed.ok ? await skillsHere(parsed.config) : {};
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
      diagnostics,
    });
  if (!parsed.ok) return print(problems.map(formatConfigProblem).join('\n'));
  for (const { name, tools } of plugins) print(`plugin ${name}: ${tools.join(', ')}`);
  for (const { level, code, message } of diagnostics) print(`${level} ${code}: ${message}`);
  if (!ok) return;
  print(
    parsed.config.path === undefined
      ? 'No config file was found: everything is at its default.'
      : `${parsed.config.path} is fine.`,
  );
}

/** `config show`: every key in force, secrets masked (G5). */
export async function showConfiguration({ config: flag, json }: ReadOptions): Promise<void> {
  const config = await openConfig(flag);
  if (json === true) printJson(maskedConfig(config));
  else print(showConfig(config));
}
