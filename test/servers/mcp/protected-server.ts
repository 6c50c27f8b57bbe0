import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { InsufficientScopeError, InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema, type Tool } from '@modelcontextprotocol/sdk/types.js';
import type { TestContext } from 'node:test';
import { listedTool } from './tool-files.ts';

/** An MCP server of the official SDK behind bearer tokens of an authorization server. */
export type ProtectedServer = Readonly<{
  url: string;
  /** Who called what, by the token; `session` tells connections apart. */
  calls: readonly Readonly<{ user: string; tool: string; session: string }>[];
  /** Tokens that it refuses, as if they had been revoked. */
  refused: Set<string>;
  /** Tokens that came with requests, in order. */
  tokens: readonly string[];
  /** What is said of the resource; tests of attacks change it. */
  about: { resource?: string; authorization_servers?: string[]; metadataUrl?: string };
  /** Tools that it lists, besides `whoami` and `admin`. */
  tools: { more: readonly object[] };
}>;

/** `tools` is needed for everything, and `admin` for the tool of that name. */
export async function startProtectedServer(
  t: TestContext,
  issuer: string,
  port = 0,
): Promise<ProtectedServer> {
  const calls: { user: string; tool: string; session: string }[] = [];
  const tokens: string[] = [];
  const about: ProtectedServer['about'] = {};
  const tools: ProtectedServer['tools'] = { more: [] };
  const refused = new Set<string>();
  const sessions = new Map<string, Readonly<{ transport: StreamableHTTPServerTransport; user: string }>>();
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  t.after(async () => {
    for (const { transport } of sessions.values()) await transport.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));

  async function verifyAccessToken(token: string): Promise<AuthInfo> {
    tokens.push(token);
    if (refused.has(token)) throw new InvalidTokenError('it was revoked');
    const { payload } = await jwtVerify(token, keys, { issuer, audience: url }).catch((error: unknown) => {
      throw new InvalidTokenError(String(error));
    });
    const scope = typeof payload['scope'] === 'string' ? payload['scope'] : '';
    return {
      token,
      clientId: String(payload['client_id']),
      scopes: scope.split(' '),
      expiresAt: payload.exp,
      resource: new URL(url),
      extra: { user: payload.sub },
    };
  }

  const app = createMcpExpressApp();
  app.get('/.well-known/oauth-protected-resource/mcp', (_, response) => {
    const { metadataUrl: __, ...changed } = about;
    response.json({
      resource: url,
      authorization_servers: [issuer],
      scopes_supported: ['tools'],
      ...changed,
    });
  });
  const resourceMetadataUrl = (): string =>
    about.metadataUrl ?? `${origin}/.well-known/oauth-protected-resource/mcp`;
  app.use('/mcp', (request, response, next) => {
    const guard = requireBearerAuth({
      verifier: { verifyAccessToken },
      requiredScopes: ['tools'],
      resourceMetadataUrl: resourceMetadataUrl(),
      expectedResource: new URL(url),
    });
    guard(request, response, next);
  });
  app.all('/mcp', (request, response) => {
    const { auth, body } = request as IncomingMessage & {
      auth: AuthInfo;
      body: { method?: string; params?: { name?: string } };
    };
    if (body?.method === 'tools/call' && body.params?.name === 'admin' && !auth.scopes.includes('admin')) {
      const challenge = `Bearer error="insufficient_scope", scope="tools admin", resource_metadata="${resourceMetadataUrl()}"`;
      return void response
        .status(403)
        .set('WWW-Authenticate', challenge)
        .json(new InsufficientScopeError('admin').toResponseObject());
    }
    void serve(request as unknown as IncomingMessage & { auth: AuthInfo }, response, body);
  });

  async function serve(
    request: IncomingMessage & { auth: AuthInfo },
    response: ServerResponse,
    body: unknown,
  ): Promise<void> {
    const user = String(request.auth.extra?.['user']);
    const id = request.headers['mcp-session-id'];
    if (typeof id === 'string') {
      const known = sessions.get(id);
      // A session belongs to who opened it.
      if (known?.user !== user) return void response.writeHead(404).end('no such session');
      return known.transport.handleRequest(request, response, body);
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, { transport, user }),
    });
    await toolsOf().connect(transport);
    return transport.handleRequest(request, response, body);
  }

  function toolsOf(): Server {
    const server = new Server(
      { name: 'protected', version: '1' },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [
        listedTool('whoami', { annotations: { readOnlyHint: true } }),
        listedTool('admin'),
        ...tools.more,
      ] as Tool[],
    }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, { authInfo, sessionId = '' }) => {
      const user = String(authInfo?.extra?.['user']);
      calls.push({ user, tool: params.name, session: sessionId });
      return { content: [{ type: 'text' as const, text: `You are ${user}.` }] };
    });
    return server;
  }

  http.on('request', app as unknown as (request: IncomingMessage, response: ServerResponse) => void);
  return { url, calls, refused, tokens, about, tools };
}
