import { readFileSync, watch } from 'node:fs';
import path from 'node:path';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type Prompt,
  type Resource,
  type ResourceTemplate,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { createToolLists, doTool } from './do-tool.ts';

/** What a test writes into the file that a server is started with; it is read anew for each list. */
export type ToolScript = Readonly<{
  /** As they are sent: what the protocol does not allow, too. */
  tools: readonly unknown[];
  /** Tools of one page of the list; all where absent. */
  pageSize?: number;
  /** Prompts with what they say, as `prompts/get` answers. Absent: the server has none. */
  prompts?: readonly Readonly<{ listed: unknown; says?: unknown }>[];
  /** Resources with their content. Absent: the server has none. */
  resources?: readonly Readonly<{
    listed: unknown;
    content?: Readonly<{ text: string } | { blob: string; mimeType?: string }>;
  }>[];
  templates?: readonly unknown[];
  /** Lists are never answered. */
  silent?: boolean;
  /** Requests for input that `ask` makes, one in each round. Only for servers of 2026-07-28, like the two below. */
  forms?: readonly unknown[];
  /** How long lists last, in milliseconds. */
  ttlMs?: number;
  /** Changes are not announced. */
  quiet?: boolean;
}>;

/**
 * An MCP server whose tools are in a file, made of the SDK's own server. What a tool does goes by its name: `echo`, `env`,
 * `fail`, `refuse`, `flood`, `lists`, `turn`, `crash`, `sleep`, `progress`, `big`, `huge`, `picture`, `structured`, `resource`, `wants`, `child`. A change of the file is announced.
 */
export function toolServer(file: string): Server {
  const script = (): ToolScript => JSON.parse(readFileSync(file, 'utf8')) as ToolScript;
  const { prompts, resources } = script();
  const capabilities = {
    tools: { listChanged: true },
    ...(prompts === undefined ? {} : { prompts: { listChanged: true } }),
    ...(resources === undefined ? {} : { resources: {} }),
  };
  const server = new Server({ name: 'test', version: '1' }, { capabilities });
  if (prompts !== undefined) servePrompts(server, script);
  if (resources !== undefined) serveResources(server, script);
  const { page, lists, listed } = createToolLists(script);
  server.setRequestHandler(
    ListToolsRequestSchema,
    async ({ params }) => (await page(params?.cursor)) as { tools: Tool[] },
  );
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { name, arguments: input, _meta } = params;
    return await doTool(name, {
      ...{ file, input, script, signal: extra.signal, lists, listed },
      async announce() {
        await server.sendToolListChanged();
        // Each is taken before the next.
        await server.ping();
      },
      async progress(message) {
        const { progressToken } = _meta ?? {};
        if (progressToken !== undefined)
          await extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken, progress: 1, total: 2, message },
          });
        // What was sent before it is taken then.
        await server.ping();
      },
      refuse: (message) => new McpError(-32602, message),
      async wants() {
        const wishes = [
          () => server.createMessage({ messages: [], maxTokens: 1 }),
          () =>
            server.elicitInput({
              message: 'your password?',
              requestedSchema: { type: 'object', properties: {} },
            }),
          () => server.listRoots(),
        ];
        const got = await Promise.allSettled(wishes.map(async (wish) => wish()));
        return got.map(({ status }) => status).join(' ');
      },
    });
  });
  const announce = async (): Promise<void> => {
    await server.sendToolListChanged();
    if (prompts !== undefined) await server.sendPromptListChanged();
  };
  const watcher = watch(path.dirname(file), (_, name) => {
    if (name === path.basename(file)) void announce().catch(() => watcher.close());
  });
  watcher.unref();
  server.onclose = () => watcher.close();
  return server;
}

function named(listed: unknown): unknown {
  return (listed as { name?: unknown }).name;
}

function servePrompts(server: Server, script: () => ToolScript): void {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: (script().prompts ?? []).map(({ listed }) => listed as Prompt),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const found = script().prompts?.find(({ listed }) => named(listed) === params.name);
    if (found === undefined) throw new McpError(-32602, 'no such prompt');
    const said = `${params.name} of ${JSON.stringify(params.arguments ?? {})}`;
    return (
      found.says ?? {
        messages: [{ role: 'user', content: { type: 'text', text: said } }],
      }
    );
  });
}

function serveResources(server: Server, script: () => ToolScript): void {
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: (script().resources ?? []).map(({ listed }) => listed as Resource),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => {
    const { templates } = script();
    if (templates === undefined) throw new McpError(-32601, 'no templates here');
    return { resourceTemplates: templates as ResourceTemplate[] };
  });
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const found = script().resources?.find(({ listed }) => (listed as Resource).uri === uri);
    if (found?.content === undefined) throw new McpError(-32002, 'no such resource');
    return { contents: [{ uri, ...found.content }] };
  });
}
