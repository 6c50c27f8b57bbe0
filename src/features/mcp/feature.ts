import type { App, Desk } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { operatorZone } from '../../core/local-time.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import { sayIn } from '../../core/texts/say.ts';
import { inlineCode } from '../../lib/text/text.ts';
import { createMcp } from './create-mcp.ts';
import { mcpOperations } from './operations.ts';
import { createAgreements, createMcpOperations, type McpOperations } from './server-agreement.ts';
import { serverStates } from './server-state.ts';

/** Brings the tools of MCP servers to the main agent and to runs (X7). */
export const mcp = {
  create: createMcpFeature,
  atRest({ store, audit }: Desk) {
    const agreements = createAgreements({ stored: store.keyed('mcp'), signals: store.signals });
    return atRest(createMcpOperations({ agreements, states: () => ({}), redact: (text) => text, audit }));
  },
};

function atRest(operations: McpOperations) {
  return {
    operations: mcpOperations(operations),
    definitionHashes: operations.definitionHashes,
    servers: async () => serverStates(await operations.list()),
  };
}

function createMcpFeature(app: App): Feature {
  const servers = createMcp(app);
  return {
    name: 'mcp',
    ...atRest(servers.operations),
    links: servers.states,
    seen: servers.seen,
    outside: servers.tools,
    async notices({ language, timezone }) {
      const say = sayIn(language);
      const zone = timezone ?? operatorZone(app.runtime().config);
      return serverStates(await servers.operations.list()).flatMap(
        ({ name, is, since, why = '', waiting }) => [
          ...(is === 'away'
            ? [
                say`The MCP server ${inlineCode(name)} is away since ${say.time(since, zone)}: ${inlineCode(why)}`,
              ]
            : []),
          ...(waiting === 0
            ? []
            : [
                say`Tools of the MCP server ${inlineCode(name)} that are off until you approve them: ${waiting}. ${inlineCode(`${skilletHere()} mcp list`)} shows them.`,
              ]),
        ],
      );
    },
    follow: servers.follow,
    start: servers.start,
    close: servers.stop,
  };
}
