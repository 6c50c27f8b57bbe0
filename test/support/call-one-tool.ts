import type { Tool } from '../../src/core/tool.ts';
import type { ToolOutcome } from '../../src/core/tool-call.ts';
import { createCallTool } from '../../src/tools/call-tool.ts';
import { openCeiling } from '../../src/tools/ceiling.ts';
import { quietLog } from './quiet-log.ts';
import { noHandOver } from './no-files.ts';

/** Calls a tool through the one door, as a loop does: what comes back is what a model would read. */
export function callOneTool(
  tool: Tool,
  input: unknown,
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolOutcome> {
  const callTool = createCallTool({
    tools: [tool],
    ceiling: openCeiling([tool.name]),
    decide: async () => ({ allowed: true }),
    requester: {
      conversation: { channel: 'telegram', chat: '42' },
      chatType: 'private',
      external: false,
      sender: 'telegram:42',
    },
    redact: (text) => text,
    log: quietLog(),
    onProgress: () => undefined,
    turn: 'item',
    handOver: noHandOver,
    audit: () => undefined,
  });
  return callTool({ id: 'toolu_1', name: tool.name, input }, signal);
}
