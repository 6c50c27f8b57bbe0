import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { nodeCommand } from '../../support/node-command.ts';
import { spokenProtocol, type Protocol } from './protocol.ts';
import type { ToolScript } from './tool-server.ts';

/** The script of a server in a folder of its own. */
export type ToolFile = Readonly<{
  file: string;
  folder: string;
  /** `[mcp.NAME]` lines for a server process of it. */
  toml: string;
  write(script: ToolScript): Promise<void>;
}>;

/** A plain tool as a server lists it. */
export function listedTool(name: string, more: object = {}) {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object', properties: {} }, ...more };
}

export const stdioServer = path.join(import.meta.dirname, 'stdio-server.ts');
const newerStdioServer = path.join(import.meta.dirname, 'newer-stdio-server.ts');

/** `[mcp.NAME]` lines of a server that does not go by the book: see `rough-server.ts`. */
export function roughServer(how: string): string {
  const args = JSON.stringify([path.join(import.meta.dirname, 'rough-server.ts'), how, spokenProtocol()]);
  return `command = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`;
}

export async function makeToolFile(
  t: TestContext,
  script: ToolScript,
  protocol: Protocol = spokenProtocol(),
): Promise<ToolFile> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-mcp-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'tools.json');
  const write = async (next: ToolScript): Promise<void> => {
    // Whole or not at all: it may be read at any time.
    await writeFile(`${file}.new`, JSON.stringify(next));
    await rename(`${file}.new`, file);
  };
  await write(script);
  const [command, ...args] = nodeCommand(protocol === '2026-07-28' ? newerStdioServer : stdioServer, file);
  const toml = `command = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`;
  return { file, folder, write, toml };
}
