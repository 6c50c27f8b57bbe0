import { z } from 'zod';
import { changes, noInput, reads, textInput } from '../../core/operation.ts';
import type { McpOperations } from './server-agreement.ts';

const shownTools = z.object({
  server: textInput,
  /** `hash` is that of the definition that was shown. */
  tools: z.array(z.object({ name: textInput, hash: z.string() })).min(1),
});

/** What operators can do about the tools of MCP servers (X7). */
export function mcpOperations(mcp: McpOperations) {
  return {
    'mcp list': reads(noInput, () => mcp.list()),
    'mcp agree': changes(shownTools, (shown) => mcp.agree(shown)),
  };
}
