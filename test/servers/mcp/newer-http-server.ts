import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { newerTools } from './newer-tool-server.ts';
import type { ToolHttpServer } from './start-http-server.ts';

type Body = Readonly<{
  id?: unknown;
  method?: string;
  params?: Readonly<{ name?: string; arguments?: Readonly<Record<string, unknown>> }>;
}>;

/**
 * A server of tools over streamable HTTP that speaks only the protocol of 2026-07-28: without sessions, and without an
 * answer to a request that lacks a header which the protocol, or a mark in a tool's schema, asks for.
 */
export async function startNewerHttpServer(file: string, port = 0): Promise<ToolHttpServer> {
  const seen: IncomingHttpHeaders[] = [];
  const asked: string[] = [];
  const tools = newerTools(file);
  const handler = createMcpHandler(tools.make, { legacy: 'reject' });
  const serve = toNodeHandler(handler);
  const unfollow = tools.follow(() => {
    handler.notify.toolsChanged();
    if (tools.script().prompts !== undefined) handler.notify.promptsChanged();
    if (tools.script().resources !== undefined) handler.notify.resourcesChanged();
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    seen.push(request.headers);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const body = (await json(request)) as Body;
    asked.push(body.method ?? '');
    const lacks = 'mcp-session-id' in request.headers ? 'no session' : lackOf(body, request.headers);
    if (lacks !== undefined) {
      const error = { code: -32_020, message: `HeaderMismatch: ${lacks}` };
      response.writeHead(400, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, error }));
    }
    await serve(request, response, body);
  }

  /** Which header of an argument is missing or wrong. */
  function lackOf({ method, params }: Body, headers: IncomingHttpHeaders): string | undefined {
    if (method !== 'tools/call') return undefined;
    const tool = tools.script().tools.find((one) => (one as { name?: unknown }).name === params?.name);
    const { properties = {} } = (tool as { inputSchema?: { properties?: object } })?.inputSchema ?? {};
    return Object.entries(properties as Readonly<Record<string, { 'x-mcp-header'?: string }>>)
      .flatMap(([key, { 'x-mcp-header': name }]) => (name === undefined ? [] : [{ key, name }]))
      .find(({ key, name }) => {
        const value = params?.arguments?.[key];
        const given = headers[`mcp-param-${name.toLowerCase()}`];
        const coded = /^=\?base64\?(.*)\?=$/.exec(String(given))?.[1];
        const said = coded === undefined ? given : Buffer.from(coded, 'base64').toString();
        return value !== undefined && said !== value;
      })?.name;
  }

  const http = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  http.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    seen,
    asked,
    answered: tools.answered,
    // There is no session to forget: what a restart ends are the connections.
    forget: async () => http.closeAllConnections(),
    async close() {
      unfollow();
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
