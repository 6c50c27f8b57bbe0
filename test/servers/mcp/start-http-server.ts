import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { TestContext } from 'node:test';
import { makeToolFile, type ToolFile } from './tool-files.ts';
import { spokenProtocol, type Protocol } from './protocol.ts';
import { startNewerHttpServer } from './newer-http-server.ts';
import { toolServer, type ToolScript } from './tool-server.ts';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** A server of tools over streamable HTTP, on loopback. */
export type ToolHttpServer = Readonly<{
  url: string;
  /** Headers of each request. */
  seen: readonly IncomingHttpHeaders[];
  /** Methods of the requests, and answers to what was asked, if the server speaks the protocol of 2026-07-28. */
  asked: readonly string[];
  answered: readonly unknown[];
  /** Forgets every session, as a server that was restarted; `away`: answers nobody until the next call. */
  forget(): Promise<void>;
  close(): Promise<void>;
}>;

/** The script of a server over HTTP that is there until the test has ended. */
export async function serveTools(
  t: TestContext,
  script: ToolScript,
  protocol: Protocol = spokenProtocol(),
): Promise<ToolFile & ToolHttpServer> {
  const file = await makeToolFile(t, script);
  const server = await startToolHttpServer(file.file, protocol);
  t.after(() => server.close());
  return { ...file, ...server, toml: `url = "${server.url}"\n` };
}

export async function startToolHttpServer(
  file: string,
  protocol: Protocol = spokenProtocol(),
): Promise<ToolHttpServer> {
  return protocol === '2026-07-28' ? startNewerHttpServer(file) : startOlderHttpServer(file);
}

async function startOlderHttpServer(file: string): Promise<ToolHttpServer> {
  const seen: IncomingHttpHeaders[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http: HttpServer = createServer((request, response) => {
    seen.push(request.headers);
    const id = request.headers['mcp-session-id'];
    if (typeof id === 'string') {
      const known = sessions.get(id);
      if (known !== undefined) return void known.handleRequest(request, response);
      return void response.writeHead(404).end('no such session');
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    void toolServer(file)
      .connect(transport as Transport)
      .then(() => transport.handleRequest(request, response));
  });
  // An idle connection that the server ends just as a request is sent would fail that request.
  http.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const forget = async (): Promise<void> => {
    const open = [...sessions.values()];
    sessions.clear();
    for (const transport of open) await transport.close();
    http.closeAllConnections();
  };
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    ...{ seen, asked: [], answered: [] },
    forget,
    async close() {
      await forget();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
