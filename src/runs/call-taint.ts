import { isSensitive } from '../access/decide-skill.ts';
import { recordTaint, roomOf, startedIn, taintAround, taintOf, wroteAddress } from '../access/taint-of.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { joinTaint, type Taint } from '../core/entry.ts';
import type { Skill } from '../core/skill.ts';
import { decideWrite } from '../core/tool-writes.ts';
import type { Tool } from '../core/tool.ts';
import type { Clock } from '../lib/clock.ts';
import type { Store } from '../store/store.ts';
import type { JudgedCall } from '../tools/call-tool.ts';

export type CallTaint = Readonly<{
  /** Whether the call could carry private data outside. `skill` makes the call; undefined is the main agent. */
  carriesOut(
    call: JudgedCall,
    of: Readonly<{ skill: Skill | undefined; transcript: string }>,
  ): Promise<boolean>;
  /** Stores, before the call runs, what the conversation and its folder may hold afterwards. */
  record(call: JudgedCall, transcript: string): Promise<void>;
}>;

/** Follows private data through the calls of a loop (S7). */
export function createCallTaint({
  runtime,
  store,
  clock,
}: Readonly<{
  runtime: () => RuntimeConfig;
  store: Store;
  clock: Clock;
}>): CallTaint {
  const { transcripts } = store;

  /** The taint of the conversation's folder, if the tool can reach it. */
  async function taintInFolder(tool: Tool, transcript: string): Promise<Taint | undefined> {
    if (!tool.traits.requiresFilesystem || isForeign(tool)) return undefined;
    return taintOf(transcripts, roomOf(transcript));
  }

  return {
    async carriesOut({ tool, input, requester, account, outward = false }, { skill, transcript }) {
      // An MCP server may send its input anywhere.
      const writes = decideWrite(tool, false) === 'outward';
      if (!outward && !writes && !tool.traits.requiresNetwork && !isForeign(tool)) return false;
      const around = await taintAround(transcripts, transcript);
      const known = joinTaint(around, await taintInFolder(tool, transcript));
      if (known === undefined) return false;
      // What came from a person's account at a server may go back there (X8).
      if (account !== undefined && account === known) return false;
      // A sensitive skill may send its own data to its own accounts and hosts.
      const belongs =
        outward || (tool.name === 'skills_run_script' && skill && isSensitive(skill, runtime().rules));
      if (belongs && skill?.name === known) return false;
      const address = tool.goesTo?.(input);
      if (address === undefined) return true;
      return !(await wroteAddress(transcripts, transcript, { sender: requester.sender, address }));
    },
    async record({ tool, taint }, transcript) {
      const before = joinTaint(taint, await taintInFolder(tool, transcript));
      await recordTaint(store, startedIn(transcript), before, clock.now());
      const { requiresFilesystem, sideEffects } = tool.traits;
      if (before === undefined && !(requiresFilesystem && sideEffects)) return;
      await recordTaint(store, roomOf(transcript), await taintAround(transcripts, transcript), clock.now());
    },
  };
}

/** Whether others can change the tool, as with tools of MCP servers. */
function isForeign({ definitionHash }: Tool): boolean {
  return definitionHash !== undefined;
}
