import path from 'node:path';
import type { Config } from '../../config/complete-config.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createEndWithUs } from '../../lib/processes/end-with-us.ts';
import { oneLine } from '../../lib/text/text.ts';
import type { ServerState } from '../../core/server-state.ts';
import { check, type Check, type Found } from './finding.ts';

/** Milliseconds for connecting, long because the first start may download a package. */
const tryMs = 30_000;
const whyLimit = 300;

const awayFrom = (name: string, why: string): Found => ({
  level: 'warning',
  code: 'MCP_AWAY',
  message: `the MCP server ${name} is away: ${oneLine(why, whyLimit)}`,
});

/** Checks MCP servers as the running bot knows them. Undefined if no bot runs or there are no servers. */
export function checkServers(states: readonly ServerState[] | undefined): Check | undefined {
  if (states === undefined || states.length === 0) return undefined;
  const found = states.flatMap(({ name, is, why = '', waiting }): readonly Found[] => [
    ...(is === 'away' ? [awayFrom(name, why)] : []),
    ...(waiting === 0
      ? []
      : [
          {
            level: 'note' as const,
            code: 'MCP_TOOLS_OFF',
            message: `${waiting} tools of the MCP server ${name} are new or changed, and off`,
          },
        ]),
  ]);
  return check('mcp', states.map(({ name, is, tools }) => `${name} ${is}, ${tools} tools`).join('; '), found);
}

/** Connects to each server once, beside a bot that may be running. */
export async function tryServers({ mcp, path: file }: Config, log: Log): Promise<Check | undefined> {
  const names = Object.keys(mcp);
  if (names.length === 0) return undefined;
  const { connectOnce } = await import('../../features/mcp/connect-once.ts');
  const endWithUs = createEndWithUs(log);
  const tried = await Promise.all(
    Object.entries(mcp).map(async ([name, settings]) => {
      if (settings.auth !== 'headers') return { said: `${name} by accounts of people`, found: [] };
      const signal = AbortSignal.timeout(tryMs);
      try {
        const connection = await connectOnce(settings, {
          env: process.env,
          cwd: file === undefined ? process.cwd() : path.dirname(file),
          redact: (text) => text,
          onListChanged: () => undefined,
          signal,
          endWithUs,
          clock: systemClock,
        });
        const tools = await connection.list(signal).finally(connection.close);
        return { said: `${name} ${tools.length} tools`, found: [] };
      } catch (error) {
        const why = signal.aborted
          ? `it did not answer within ${tryMs / 1_000} s`
          : error instanceof Error
            ? error.message
            : String(error);
        return { said: `${name} failed`, found: [awayFrom(name, why)] };
      }
    }),
  );
  return check(
    'mcp',
    tried.map(({ said }) => said).join('; '),
    tried.flatMap(({ found }) => found),
  );
}
