import type { Tool } from '../../src/core/tool.ts';
import type { CallTool, ToolOutcome } from '../../src/core/tool-call.ts';
import { createCallTool } from '../../src/tools/call-tool.ts';
import { allToolsAllowed } from '../../src/tools/allowed-tools.ts';
import { quietLog } from './quiet-log.ts';
import { noHandOver } from './no-files.ts';
import { toolContext } from './tool-context.ts';

type Scope = Parameters<typeof createCallTool>[0];
type Deps = Parameters<typeof createCallTool>[1];

/** The one door to these tools, open in a direct message; what it is handed may be changed. */
export function openDoor(tools: readonly Tool[], change: Partial<Scope & Deps> = {}): CallTool {
  const scope: Scope = {
    tools,
    allowed: allToolsAllowed(tools.map(({ name }) => name)),
    requester: toolContext().requester,
    turn: 'item',
  };
  const deps: Deps = {
    decide: async () => ({ allowed: true }),
    settings: () => ({}),
    deliverArtifacts: noHandOver,
    audit: () => undefined,
    redact: (text) => text,
    onProgress: () => undefined,
    onStep: () => undefined,
    log: quietLog(),
  };
  return createCallTool({ ...scope, ...change }, { ...deps, ...change });
}

/** Calls a tool through the one door, as a loop does: what comes back is what a model would read. */
export function callOneTool(
  tool: Tool,
  input: unknown,
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolOutcome> {
  return openDoor([tool])({ id: 'toolu_1', name: tool.name, input }, signal);
}
