import { OperatorError } from '../core/errors.ts';
import { definitionHash, mcpToolName } from './mcp-tool.ts';
import { isOn, type ServerAgreement, type Agreements } from './server-agreement.ts';
import type { LinkState } from './create-lasting-link.ts';
import type { Audit } from '../audit/create-audit.ts';

export type ListedServer = ServerAgreement &
  Readonly<{
    name: string;
    /** Absent if no bot runs or config lacks it. */
    state?: LinkState;
  }>;

/** The CLI's operations (X7). */
export type McpOperations = Readonly<{
  /** By name; seen or configured. */
  list(): Promise<readonly ListedServer[]>;
  /** `hash`: of the shown definition. */
  agree(
    shown: Readonly<{ server: string; tools: readonly Readonly<{ name: string; hash: string }>[] }>,
  ): Promise<Readonly<{ server: string; tools: readonly string[] }>>;
  /** Hashes of tools that are on, by name: see `Tool`. */
  editions(): Promise<ReadonlyMap<string, string>>;
}>;

export function createMcpOperations(options: {
  agreements: Pick<Agreements, 'all' | 'agree'>;
  states(): Readonly<Record<string, LinkState>>;
  redact(text: string): string;
  audit: Pick<Audit, 'record'>;
}): McpOperations {
  const { agreements, states, redact, audit } = options;
  return {
    async list() {
      const seen = await agreements.all();
      const now = new Map(Object.entries(states()));
      return [...new Set([...seen.keys(), ...now.keys()])].sort().map((name) => {
        const state = now.get(name);
        const told = state?.is === 'lost' ? { is: state.is, why: redact(state.why) } : state;
        const of = seen.get(name) ?? { identity: '', tools: [] };
        return { name, ...of, state: told };
      });
    },
    async agree({ server, tools }) {
      const done = await agreements.agree(server, tools);
      if (done.length < tools.length)
        throw new OperatorError(
          `${tools.length - done.length} of ${tools.length} tools of ${server} changed since they were shown: see \`skillet mcp list\``,
        );
      await audit.record({ event: 'mcp_agreed', server, tools: done });
      return { server, tools: done };
    },
    async editions() {
      const servers = [...(await agreements.all())];
      return new Map(
        servers.flatMap(([server, { identity, tools }]) =>
          tools.flatMap((tool) =>
            tool.seen === undefined || !isOn(tool)
              ? []
              : [[mcpToolName(server, tool.name), definitionHash(identity, tool.seen)] as const],
          ),
        ),
      );
    },
  };
}
