import { isServed } from '../channels/terminal/control.ts';
import type { Config } from '../config/complete-config.ts';
import { formatConfigProblem } from '../config/config-problem.ts';
import { loadConfig } from '../config/load-config.ts';
import type { ParsedConfig } from '../config/parse-config.ts';
import { isSecretKey, secretsOfConfig, secretsOfProxies } from '../config/secrets-of-config.ts';
import { OperatorError } from '../core/errors.ts';
import { createRedactor } from '../lib/redaction/redact.ts';
import { guardOutput } from './console.ts';
import { loadEnvFile } from './env-file.ts';
import { useNetwork } from './use-network.ts';

/** Reads the config. Throws one OperatorError with all problems (G2). From now on no secret is printed. */
export async function openConfig(flag: string | undefined): Promise<Config> {
  return guarded(await parseHere(flag));
}

/** Reads `.env` beside the config file, then the config. */
export async function parseHere(flag: string | undefined): Promise<ParsedConfig> {
  await loadEnvFile(flag);
  return loadConfig({ flag, env: process.env });
}

/**
 * Reads the config for operator commands. Secrets may be missing, because the operator's shell need not have them.
 * While the bot runs, only [bot] must be complete (L1). Throws OperatorError.
 */
export async function openOperatorConfig(flag: string | undefined): Promise<Config> {
  const withoutSecrets = await openStoppedConfig(flag);
  if (withoutSecrets.ok) return guarded(withoutSecrets);
  const loose = await loadConfig({ flag, env: process.env, mayLack: ([section]) => section !== 'bot' });
  const isRunning = loose.ok && (await isServed(loose.config.bot.dataDir));
  return guarded(isRunning ? loose : withoutSecrets);
}

/** Reads the config for work on the store while no bot runs. Secrets may be missing. Throws OperatorError. */
export async function openStoreConfig(flag: string | undefined): Promise<Config> {
  return guarded(await openStoppedConfig(flag));
}

async function openStoppedConfig(flag: string | undefined): Promise<ParsedConfig> {
  await loadEnvFile(flag);
  return loadConfig({ flag, env: process.env, mayLack: isSecretKey });
}

function guarded(parsed: ParsedConfig): Config {
  if (!parsed.ok) throw new OperatorError(parsed.problems.map(formatConfigProblem).join('\n'));
  guardSecrets(parsed.config);
  return parsed.config;
}

/** From now on no secret is printed, and the process reaches other hosts as the config says. */
export function guardSecrets(config: Config): void {
  useNetwork(config);
  guardOutput(createRedactor([...secretsOfConfig(config), ...secretsOfProxies(process.env)]));
}
