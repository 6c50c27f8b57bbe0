import type { Config } from '../config/complete-config.ts';
import type { ToolTable } from '../core/built-in-tools.ts';
import { nearest } from '../lib/text/text.ts';

/** Names of the built-in tools of the main agent: those of `[agent] tools`, or else the usual ones (T2). */
export function mainTools({ agent }: Config, builtInTools: ToolTable): readonly string[] {
  return agent.tools ?? builtInTools.names(({ main }) => main === 'kept' || main === 'default');
}

/** What the doctor says about a name that is unknown. */
export const mainToolReasons = {
  TOOL_UNKNOWN: {
    why: 'The main agent would lack a tool without anybody noticing.',
    fix: 'Write the name that the message says, or take it out of `[agent] tools`.',
  },
};

/** Finds names in `[agent] tools` that no tool of the main agent has. One would silently take a tool away (T2). */
export function checkMainTools({ agent }: Config, builtInTools: ToolTable) {
  const known = builtInTools.names(({ main }) => main !== undefined);
  return (agent.tools ?? []).flatMap((name, index) => {
    if (known.includes(name)) return [];
    const [guess] = nearest(name, known);
    const fix =
      guess === undefined
        ? `the main agent may have ${known.join(', ')}; tools of plugins and MCP servers come by themselves`
        : `no tool of the main agent is called that: write "${guess}"`;
    const message = `agent.tools[${index}]: found ${JSON.stringify(name)}: ${fix}`;
    return [{ level: 'error', code: 'TOOL_UNKNOWN', key: ['agent', 'tools', index], message }] as const;
  });
}
