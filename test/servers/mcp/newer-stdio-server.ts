import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { newerTools } from './newer-tool-server.ts';
import type { Server } from '@modelcontextprotocol/server';

/** A server of tools as a process, which refuses every protocol before 2026-07-28: `node newer-stdio-server.ts SCRIPT`. */
const tools = newerTools(process.argv[2] ?? '');
let served: Server | undefined;
tools.follow(() => {
  void served?.sendToolListChanged().catch(() => undefined);
  if (tools.script().prompts !== undefined) void served?.sendPromptListChanged().catch(() => undefined);
});
serveStdio(() => (served = tools.make()), { legacy: 'reject' });
