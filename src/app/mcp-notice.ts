import { createHash } from 'node:crypto';
import type { Disagreement } from '../tools/mcp/kept-server.ts';
import { mcpToolName } from '../tools/mcp/mcp-tool-name.ts';
import { inlineCode } from './inline-code.ts';

/** Tools that are named; of more there is the number. */
const namedLimit = 20;

/** What the owners are told of tools that are off since their MCP server showed its list (X7). */
export function mcpNotice(
  server: string,
  off: readonly Disagreement[],
  at: number,
): { key: string; markdown: string } {
  const lines = off
    .slice(0, namedLimit)
    .map(({ tool, why }) =>
      why === 'changed'
        ? `- ${inlineCode(mcpToolName(server, tool))} is not what you agreed to any more.`
        : `- ${inlineCode(mcpToolName(server, tool))} is new.`,
    );
  const more = off.length > namedLimit ? [`- ${off.length - namedLimit} more`] : [];
  const mark = createHash('sha256').update(JSON.stringify(off)).digest('hex').slice(0, 12);
  return {
    key: `mcp:${at}:${mark}`,
    markdown: [
      `The MCP server ${inlineCode(server)} changed its tools. These are off until you agree:`,
      '',
      ...lines,
      ...more,
      '',
      `\`skillet mcp list\` shows them, \`skillet mcp agree\` with the server's name switches them on.`,
    ].join('\n'),
  };
}
