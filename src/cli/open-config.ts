import type { Config } from '../config/complete-config.ts';
import { formatConfigProblem } from '../config/config-problem.ts';
import { loadConfig } from '../config/load-config.ts';
import { OperatorError } from '../core/errors.ts';

/** The configuration in force; all its problems in one OperatorError otherwise (G2). */
export async function openConfig(flag: string | undefined): Promise<Config> {
  const parsed = await loadConfig({ flag, env: process.env });
  if (parsed.ok) return parsed.config;
  throw new OperatorError(parsed.problems.map(formatConfigProblem).join('\n'));
}
