import type { Config } from '../config/complete-config.ts';
import { formatConfigProblem } from '../config/config-problem.ts';
import { loadConfig } from '../config/load-config.ts';
import { secretsOfConfig, secretsOfProxies } from '../config/secrets-of-config.ts';
import { OperatorError } from '../core/errors.ts';
import { createRedactor } from '../core/redact.ts';
import { guardOutput } from './guard-output.ts';

/** The configuration in force, whose secrets this process prints no more; all its problems in one OperatorError otherwise (G2). */
export async function openConfig(flag: string | undefined): Promise<Config> {
  const parsed = await loadConfig({ flag, env: process.env });
  if (parsed.ok) {
    const { config } = parsed;
    guardOutput(createRedactor([...secretsOfConfig(config), ...secretsOfProxies(process.env)]));
    return config;
  }
  throw new OperatorError(parsed.problems.map(formatConfigProblem).join('\n'));
}
