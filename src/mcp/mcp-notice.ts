import { createHash } from 'node:crypto';
import type { Disagreement } from './server-agreement.ts';
import { mcpToolName } from './mcp-tool-name.ts';
import { inlineCode } from '../lib/text/inline-code.ts';

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
        ? `- ${inlineCode(mcpToolName(server, tool))} is no longer what you agreed to.`
        : `- ${inlineCode(mcpToolName(server, tool))} is new.`,
    );
  const more = off.length > namedLimit ? [`- ${off.length - namedLimit} more`] : [];
  // Told once for all processes; the same change again, after an hour, is told again.
  const told = [server, off, Math.floor(at / 3_600_000)];
  const mark = createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 16);
  return {
    key: `mcp:${mark}`,
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
