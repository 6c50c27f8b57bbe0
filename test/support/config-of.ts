import assert from 'node:assert/strict';
import { parseConfig } from '../../src/config/parse-config.ts';

/** The config that this TOML text makes, without environment variables. */
export function configOf(toml = '') {
  const parsed = parseConfig(toml, { env: {} });
  assert.ok(parsed.ok);
  return parsed.config;
}
