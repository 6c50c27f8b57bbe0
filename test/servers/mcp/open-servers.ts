import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { renderEnvelope } from '../../../src/core/envelope.ts';
import type { Tool, ToolContext } from '../../../src/core/tool.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { ConnectOnce } from '../../../src/features/mcp/connect-once.ts';
import { createAgreements } from '../../../src/features/mcp/server-agreement.ts';
import { createConfiguredServers } from '../../../src/features/mcp/create-configured-servers.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { toolContext } from '../../support/tool-context.ts';

/** What the log says where a server is there, and where it is not. */
export const connected = 'an MCP server is connected';
export const away = 'an MCP server is away: it is tried again';

/** The servers of a config on a store of their own, with a clock that only moves when it is told to. */
export async function openServers(
  t: TestContext,
  toml: string,
  options: Readonly<{ connect?: ConnectOnce; redact?: (text: string) => string }> = {},
) {
  const state = { toml };
  const settings = () => {
    const parsed = parseConfig(state.toml, { env: {} });
    assert.ok(parsed.ok, JSON.stringify(parsed));
    return parsed.config.mcp;
  };
  let now = settings();
  const clock = createManualClock();
  const log = quietLog();
  const store = await openStore('sqlite::memory:');
  const agreements = createAgreements({ stored: store.keyed('mcp'), signals: store.signals });
  const off: (readonly string[])[] = [];
  const open = () =>
    createConfiguredServers({
      redact: (text) => text,
      converse: (_of, _context, attempt) => attempt(undefined),
      settings: () => now,
      agreements,
      onOff: async (server, tools) =>
        void off.push([server, ...tools.map(({ tool, why }) => `${tool} ${why}`)]),
      process: {
        env: { PATH: process.env['PATH'], ANTHROPIC_API_KEY: 'secret-of-the-bot', HOME: '/home/me' },
        cwd: import.meta.dirname,
      },
      ...options,
      clock,
      log,
    });
  const servers = { now: open() };
  t.after(async () => {
    await servers.now.stop();
    await store.close();
  });
  const names = (): readonly string[] => servers.now.tools().map(({ tool }) => tool.name);
  const find = (name: string): Tool => {
    const found = servers.now.tools().find(({ tool }) => tool.name === name);
    assert.ok(found, `${name} is not among ${names().join(', ')}`);
    return found.tool;
  };
  return {
    clock,
    log,
    agreements,
    off,
    names,
    find,
    servers: () => servers.now,
    start: () => servers.now.start(),
    call: async (name: string, input: unknown = {}, context: Partial<ToolContext> = {}) =>
      renderEnvelope(await find(name).run(input, toolContext(context))),
    /** Waits for the nth line of this text. */
    said: (text: string, times = 1) =>
      log.line(
        (line) =>
          line.message === text && log.lines.filter(({ message }) => message === text).length >= times,
      ),
    reconfigure(next: string) {
      state.toml = next;
      now = settings();
      servers.now.follow();
    },
    /** The same as a new process on the same store. */
    async restart() {
      await servers.now.stop();
      servers.now = open();
      await servers.now.start();
    },
  };
}

/** The address of a server on loopback that is there until the test has ended. */
export async function listen(t: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
