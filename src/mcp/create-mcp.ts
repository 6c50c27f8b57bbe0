import path from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';
import { createAgreements } from './create-agreements.ts';
import { createConfiguredServers, type ConfiguredServers } from './create-configured-servers.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Live } from '../config/runtime-config.ts';
import { mcpNotice } from './mcp-notice.ts';
import { createMcpOperations, type McpOperations } from './mcp-operations.ts';
import type { Voice } from '../replies/replies.ts';

/** The MCP servers of the config in force, with what an operator can do about them (X7). */
export function createMcp(options: {
  live: () => Pick<Live, 'config' | 'redact'>;
  store: Pick<Store, 'keyed' | 'signals'>;
  voice: Pick<Voice, 'tellOwners'>;
  audit: Pick<Audit, 'record'>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
}): ConfiguredServers & Readonly<{ operations: McpOperations }> {
  const { live, store, voice, audit, env, clock, log } = options;
  const redact = (text: string): string => live().redact(text);
  const agreements = createAgreements({ stored: store.keyed('mcp'), signals: store.signals });
  const file = live().config.path;
  const servers = createConfiguredServers({
    settings: () => live().config.mcp,
    agreements,
    async onOff(server, off) {
      log.warn({ server, off }, 'tools of an MCP server are off until the operator agrees');
      const { key, markdown } = mcpNotice(server, off, clock.now());
      await voice.tellOwners(key, markdown);
    },
    env,
    redact,
    // What a config names is relative to it.
    cwd: file === undefined ? process.cwd() : path.dirname(file),
    clock,
    log,
  });
  return {
    ...servers,
    operations: createMcpOperations({ agreements, states: servers.states, redact, audit }),
  };
}
