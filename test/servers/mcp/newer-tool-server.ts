import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, watch } from 'node:fs';
import path from 'node:path';
import {
  createRequestStateCodec,
  inputRequired,
  ProtocolError,
  Server,
  type CallToolResult,
  type GetPromptResult,
  type Prompt,
  type Resource,
  type ResourceTemplateType,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { createToolLists, doTool } from './do-tool.ts';
import type { ToolScript } from './tool-server.ts';

/** What a server of 2026-07-28 shares between its requests, each of which gets a server of its own. */
export type NewerTools = Readonly<{
  make(): Server;
  script(): ToolScript;
  /** Answers that came back to the server's questions, as they came. */
  answered: readonly unknown[];
  /** Calls `announce` whenever the file has changed. Returns what ends that. */
  follow(announce: (server?: Server) => void): () => void;
}>;

type State = Readonly<{ step: number; got: readonly unknown[] }>;

/**
 * The tools of `tool-server.ts` in the protocol of 2026-07-28 (X9). One more is `ask`, which asks for each form of the script in a round of its own,
 * `endless`, which asks the first one for ever, and `several`, which asks for all at once. The state of what was asked is sealed, goes to the client and comes back.
 */
export function newerTools(file: string): NewerTools {
  const script = (): ToolScript => JSON.parse(readFileSync(file, 'utf8')) as ToolScript;
  const codec = createRequestStateCodec<State>({ key: randomBytes(32) });
  const answered: unknown[] = [];
  const announcing = new Set<(server?: Server) => void>();
  const { page, lists, listed } = createToolLists(script);

  async function ask(name: string, context: ServerContext) {
    const { forms = [] } = script();
    const { step, got } = context.mcpReq.requestState<State>() ?? { step: 0, got: [] };
    const responses = context.mcpReq.inputResponses;
    if (responses !== undefined) answered.push(responses);
    const all = responses === undefined ? got : [...got, responses['form'] ?? null];
    const asked = name === 'several' && step === 0 ? forms : [name === 'endless' ? forms[0] : forms[step]];
    if (asked[0] === undefined || (name === 'several' && step > 0))
      return { content: [{ type: 'text' as const, text: JSON.stringify(all) }] };
    return inputRequired({
      inputRequests: Object.fromEntries(
        asked.map((form, at) => [
          at === 0 ? 'form' : `form${at}`,
          form as ReturnType<typeof inputRequired.elicit>,
        ]),
      ),
      requestState: await codec.mint({ step: step + 1, got: all }),
    });
  }

  function make(): Server {
    const { prompts, resources, ttlMs, quiet = false } = script();
    const listChanged = !quiet;
    const hint = { ttlMs: ttlMs ?? 0, cacheScope: 'private' as const };
    const server = new Server(
      { name: 'test', version: '2' },
      {
        capabilities: {
          tools: { listChanged },
          ...(prompts === undefined ? {} : { prompts: { listChanged } }),
          ...(resources === undefined ? {} : { resources: { listChanged } }),
        },
        cacheHints: {
          'tools/list': hint,
          'prompts/list': hint,
          'resources/list': hint,
          'resources/templates/list': hint,
        },
        requestState: { verify: codec.verify },
      },
    );
    server.setRequestHandler(
      'tools/list',
      async ({ params }) => (await page(params?.cursor)) as { tools: Tool[] },
    );
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const { name, arguments: input } = params;
      if (['ask', 'endless', 'several'].includes(name)) return ask(name, context);
      return (await doTool(name, {
        ...{ file, input, script, signal: context.mcpReq.signal, lists, listed },
        announce: async () => announcing.forEach((announce) => announce(server)),
        async progress(message) {
          const progressToken = context.mcpReq._meta?.progressToken;
          if (progressToken !== undefined)
            await context.mcpReq.notify({
              method: 'notifications/progress',
              params: { progressToken, progress: 1, total: 2, message },
            });
        },
        refuse: (message) => new ProtocolError(-32602, message),
        async wants() {
          const wishes = [
            () => context.mcpReq.requestSampling({ messages: [], maxTokens: 1 }),
            () =>
              context.mcpReq.elicitInput({
                message: 'your password?',
                requestedSchema: { type: 'object', properties: {} },
              }),
            () => server.listRoots(),
          ];
          const got = await Promise.allSettled(wishes.map(async (wish) => wish()));
          return got.map(({ status }) => status).join(' ');
        },
      })) as CallToolResult;
    });
    if (prompts !== undefined) servePrompts(server, script);
    if (resources !== undefined) serveResources(server, script);
    return server;
  }

  return {
    make,
    script,
    answered,
    follow(announce) {
      announcing.add(announce);
      const watcher = watch(path.dirname(file), (_, name) => {
        // It is gone when the test ends.
        if (name === path.basename(file) && existsSync(file)) announce();
      });
      watcher.unref();
      return () => {
        announcing.delete(announce);
        watcher.close();
      };
    },
  };
}

function servePrompts(server: Server, script: () => ToolScript): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: (script().prompts ?? []).map(({ listed }) => listed as Prompt),
  }));
  server.setRequestHandler('prompts/get', ({ params }) => {
    const found = script().prompts?.find(({ listed }) => fieldOf(listed, 'name') === params.name);
    if (found === undefined) throw new ProtocolError(-32602, 'no such prompt');
    const text = `${params.name} of ${JSON.stringify(params.arguments ?? {})}`;
    return (found.says ?? {
      messages: [{ role: 'user', content: { type: 'text', text } }],
    }) as GetPromptResult;
  });
}

function serveResources(server: Server, script: () => ToolScript): void {
  server.setRequestHandler('resources/list', () => ({
    resources: (script().resources ?? []).map(({ listed }) => listed as Resource),
  }));
  server.setRequestHandler('resources/templates/list', () => {
    const { templates } = script();
    if (templates === undefined) throw new ProtocolError(-32601, 'no templates here');
    return { resourceTemplates: templates as ResourceTemplateType[] };
  });
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const found = script().resources?.find(({ listed }) => fieldOf(listed, 'uri') === uri);
    if (found?.content === undefined) throw new ProtocolError(-32602, 'no such resource');
    return { contents: [{ uri, ...found.content }] };
  });
}

function fieldOf(listed: unknown, key: string): unknown {
  return Reflect.get(Object(listed) as object, key);
}
