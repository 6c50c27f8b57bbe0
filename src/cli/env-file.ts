import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { envFileOf, findConfigPath } from '../config/load-config.ts';
import { OperatorError } from '../core/errors.ts';
import { operatorText } from '../core/operator-text.ts';
import { trustCertificates } from './trust-certificates.ts';

/**
 * Sets the variables of `.env` beside the config file that the environment of this process lacks (G5). Throws
 * OperatorError.
 */
export async function loadEnvFile(flag: string | undefined): Promise<void> {
  const config = await findConfigPath({ flag, env: process.env });
  if (config !== undefined) loadEnvBeside(config);
}

/** The same as `loadEnvFile`, for a config that need not exist yet. Throws OperatorError. */
export function loadEnvBeside(config: string): void {
  for (const [name, value] of Object.entries(readEnvFile(envFileOf(config)))) {
    if (process.env[name] !== undefined) continue;
    process.env[name] = value;
    if (name === 'NODE_EXTRA_CA_CERTS' && value !== '') trustCertificates(value, `${name} in .env`);
  }
}

/** The variables of a file, empty if there is no such file. Throws OperatorError if it can't be read. */
export function readEnvFile(file: string): Readonly<Record<string, string>> {
  try {
    return parseEnv(operatorText(readFileSync(file), file)) as Record<string, string>;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return {};
    const why = code === 'EACCES' ? 'this user may not read it: chown it, or chmod 600' : code;
    throw new OperatorError(`${file} can't be read: ${why}.`, { cause: error });
  }
}
