import type { Tool } from '../../src/core/tool.ts';
import type { CallTool, ToolOutcome } from '../../src/core/tool-call.ts';
import { createCallTool } from '../../src/tools/call-tool.ts';
import { allToolsAllowed } from '../../src/tools/allowed-tools.ts';
import { quietLog } from './quiet-log.ts';
import { noHandOver } from './no-files.ts';
import { toolContext } from './tool-context.ts';

type Door = Parameters<typeof createCallTool>[0];

/** The one door to these tools, open in a direct message; what it is handed may be changed. */
export function openDoor(tools: readonly Tool[], change: Partial<Door> = {}): CallTool {
  return createCallTool({
    tools,
    ceiling: allToolsAllowed(tools.map(({ name }) => name)),
    decide: async () => ({ allowed: true }),
    requester: toolContext().requester,
    redact: (text) => text,
    log: quietLog(),
    onProgress: () => undefined,
    turn: 'item',
    settings: () => ({}),
    deliverArtifacts: noHandOver,
    audit: () => undefined,
    ...change,
  });
}

/** Calls a tool through the one door, as a loop does: what comes back is what a model would read. */
export function callOneTool(
  tool: Tool,
  input: unknown,
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolOutcome> {
  return openDoor([tool])({ id: 'toolu_1', name: tool.name, input }, signal);
}
