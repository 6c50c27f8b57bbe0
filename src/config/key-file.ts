import path from 'node:path';
import type { Config } from './complete-config.ts';

/** The file with the key that seals linked accounts and signs calls of capabilities (C6). */
export function capabilityKeyFile({ capabilities, bot }: Config): string {
  return capabilities.keyFile ?? path.join(bot.dataDir, 'capabilities.key');
}
