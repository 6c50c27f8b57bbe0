import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Audit } from '../../audit/create-audit.ts';
import type { RuntimeConfig } from '../../config/runtime-config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { inlineCode } from '../../lib/text/text.ts';
import {
  createAgreements,
  createMcpOperations,
  type Disagreement,
  type McpOperations,
} from './server-agreement.ts';
import { createConfiguredServers, type ConfiguredServers } from './create-configured-servers.ts';
import { mcpToolName } from './mcp-tool.ts';
import type { Replies } from '../../replies/replies.ts';
import type { Store } from '../../store/store.ts';
import type { Say, Words } from '../../core/texts/say.ts';
import { skilletHere } from '../../core/skillet-here.ts';

const namedLimit = 20;

export function createMcp(options: {
  runtime: () => RuntimeConfig;
  store: Store;
  replies: Replies;
  audit: Audit;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
}): ConfiguredServers & Readonly<{ operations: McpOperations }> {
  const { runtime, store, replies, audit, env, clock, log } = options;
  const redact = (text: string): string => runtime().redact(text);
  const agreements = createAgreements({ stored: store.keyed('mcp'), signals: store.signals });
  const file = runtime().config.path;
  const servers = createConfiguredServers({
    settings: () => runtime().config.mcp,
    agreements,
    async onOff(server, off) {
      log.warn({ server, off }, 'tools of an MCP server are off until the operator agrees');
      const { key, words } = mcpNotice(server, off, clock.now());
      await replies.tellOwners(key, words);
    },
    process: { env, cwd: file === undefined ? process.cwd() : path.dirname(file) },
    redact,
    clock,
    log,
  });
  return {
    ...servers,
    operations: createMcpOperations({ agreements, states: servers.states, redact, audit }),
  };
}

function mcpNotice(server: string, off: readonly Disagreement[], at: number): { key: string; words: Words } {
  const lines = (say: Say): readonly string[] => [
    ...off.slice(0, namedLimit).map(({ tool, why }) => {
      const name = inlineCode(mcpToolName(server, tool));
      return why === 'changed' ? say`${name} is no longer what you approved.` : say`${name} is new.`;
    }),
    ...(off.length > namedLimit ? [say`${off.length - namedLimit} more`] : []),
  ];
  // The key is the same in all processes, so that owners are told once; after an hour they are told again.
  const told = [server, off, Math.floor(at / 3_600_000)];
  const mark = createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 16);
  return {
    key: `mcp:${mark}`,
    words: (say) =>
      [
        say`The MCP server ${inlineCode(server)} changed its tools. These are off until you approve them:`,
        '',
        ...lines(say).map((line) => `- ${line}`),
        '',
        say`${inlineCode(`${skilletHere()} mcp list`)} shows them; ${inlineCode(`${skilletHere()} mcp agree ${server}`)} switches them on.`,
      ].join('\n'),
  };
}
