import { formatConfigProblem } from '../config/config-problem.ts';
import { loadConfig } from '../config/load-config.ts';
import { maskedConfig, showConfig } from '../config/masked-config.ts';
import type { ReadOptions } from './options.ts';
import { openConfig } from './open-config.ts';
import { print, printJson } from './print.ts';

/** `config check`: what start would say of the file (G2). */
export async function checkConfig({ config: flag, json }: ReadOptions): Promise<void> {
  const parsed = await loadConfig({ flag, env: process.env });
  const problems = parsed.ok ? [] : parsed.problems;
  if (problems.length > 0) process.exitCode = 1;
  if (json === true)
    return printJson({ ok: parsed.ok, path: parsed.ok ? parsed.config.path : undefined, problems });
  if (!parsed.ok) return print(problems.map(formatConfigProblem).join('\n'));
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
