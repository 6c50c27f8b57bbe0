import type { App } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { operatorZone } from '../../core/local-time.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import { sayIn } from '../../core/texts/say.ts';
import { inlineCode } from '../../lib/text/text.ts';
import { createMcp } from './create-mcp.ts';
import { serverStates } from './server-state.ts';

export type McpFeature = Feature & Readonly<{ mcp: ReturnType<typeof createMcp> }>;

/** Brings the tools of MCP servers to the main agent and to runs (X7). */
export function createMcpFeature(app: App): McpFeature {
  const mcp = createMcp(app);
  return {
    name: 'mcp',
    mcp,
    outside: mcp.tools,
    async notices({ language, timezone }) {
      const say = sayIn(language);
      const zone = timezone ?? operatorZone(app.runtime().config);
      return serverStates(await mcp.operations.list()).flatMap(({ name, is, since, why = '', waiting }) => [
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
      ]);
    },
    follow: mcp.follow,
    start: mcp.start,
    stop: mcp.stop,
  };
}
