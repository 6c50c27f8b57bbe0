import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { toolServer } from './tool-server.ts';

/** A server of tools as a process: `node stdio-server.ts SCRIPT`. */
await toolServer(process.argv[2] ?? '').connect(new StdioServerTransport());
