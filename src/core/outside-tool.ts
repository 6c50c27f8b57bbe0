import type { ChatType } from './conversation.ts';
import type { Tool } from './tool.ts';

/** For whom a tool that is not built in is, and where (X7). Nothing is left out, so that nothing missing opens it. */
export type OutsideAccess = Readonly<{
  chatTypes: readonly ChatType[];
  /** Sender ids, bare or qualified; `owners` as they are at the time. */
  users: readonly string[] | 'owners' | 'everybody';
}>;

/** A tool that a plugin or an MCP server brings. Its access is judged when it is offered and again at each call. */
export type OutsideTool = Readonly<{
  tool: Tool;
  /** Who brings it, for people: `plugin weather`, `mcp files`. */
  from: string;
  /** Whether the main agent gets it; runs get it in any case (X1). */
  main: boolean;
  access: OutsideAccess;
}>;

/** What is brought by now, read anew for each turn, run and call. The order is stable; it waits for nothing. */
export type OutsideSource = () => readonly OutsideTool[];
