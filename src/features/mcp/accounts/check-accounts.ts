import { existsSync } from 'node:fs';
import type { Config } from '../../../config/complete-config.ts';
import { capabilityKeyFile } from '../../../config/key-file.ts';
import type { ConfigFinding, FindingReason } from '../../kit.ts';

/** What is wrong with a config in which people sign in to MCP servers (X8). */
export function accountChecks(config: Config): readonly ConfigFinding[] {
  const named = Object.entries(config.mcp).filter(([, { auth }]) => auth !== 'headers');
  const [first] = named;
  if (first === undefined) return [];
  const key = ['mcp', first[0], 'auth'];
  const servers = named.map(([name]) => name).join(', ');
  const { keyFile } = config.capabilities;
  return [
    ...(config.server.publicUrl === undefined
      ? [
          {
            ...{ level: 'warning' as const, code: 'SIGN_IN_BY_PASTE', key },
            message: `people who sign in to ${servers} have to copy an address out of their browser: write public_url under [server]`,
          },
        ]
      : []),
    ...(keyFile !== undefined && !existsSync(keyFile)
      ? [
          {
            ...{ level: 'warning' as const, code: 'ACCOUNT_KEY_MISSING', key },
            message: `the key that seals accounts is not there yet (${capabilityKeyFile(config)}): the first sign-in makes it`,
          },
        ]
      : []),
  ];
}

export const accountReasons: Readonly<Record<string, FindingReason>> = {
  SIGN_IN_BY_PASTE: {
    why: 'Without a public address, a sign-in page can send its answer to nobody. People copy it into the chat, which is easy to get wrong.',
    fix: 'Put a TLS proxy in front of [server] listen, and write its address as public_url under [server]. See docs/how-to/own-accounts.md.',
  },
  ACCOUNT_KEY_MISSING: {
    why: 'The accounts of people are encrypted with this key. If all accounts were to be read by a process without it, nobody could use theirs.',
    fix: 'If the store has accounts already, copy the key file from the machine that made it. Otherwise do nothing.',
  },
};
