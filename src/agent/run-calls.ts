import type Anthropic from '@anthropic-ai/sdk';
import type { Clock } from '../lib/clock.ts';
import { isUnderWay, type Entry } from '../core/entry.ts';
import type { ToolSpec } from '../core/tool.ts';
import { interrupted, type BeginCall, type CallTool, type ToolOutcome } from '../core/tool-call.ts';
import { onAbort } from '../lib/async/on-abort.ts';

const graceMs = 2_000;

/**
 * Makes the calls of an answer, and stores their starts and results (M7). They run in parallel if all are read-only,
 * otherwise in order (M3). Interrupted calls are repeated if they are idempotent or read-only (Q5), or waited for a person (X9). After an abort,
 * running ones get 2 s and the others no result (Q13). A question to a person is returned, and the remaining calls are
 * left (U14).
 */
export async function runCalls(
  calls: readonly Anthropic.ToolUseBlock[],
  options: {
    after: readonly Entry[];
    tools: readonly ToolSpec[];
    callTool: CallTool;
    append: (entry: Entry, settles?: string) => Promise<void>;
    signal: AbortSignal;
    clock: Clock;
  },
): Promise<string | undefined> {
  const { after, tools, callTool, append, signal, clock } = options;
  const traits = new Map(tools.map((tool) => [tool.name, tool.traits]));
  const isRepeatable = ({ name }: Anthropic.ToolUseBlock): boolean => {
    const known = traits.get(name);
    return known !== undefined && (known.idempotent || !known.sideEffects);
  };
  const finish = (call: Anthropic.ToolUseBlock, { finishesItem, ...outcome }: ToolOutcome): Promise<void> =>
    append({ kind: 'tool_result', toolUseId: call.id, ...outcome, at: clock.now() }, finishesItem);
  const start = (call: Anthropic.ToolUseBlock, waits?: true): Promise<void> =>
    append({ kind: 'tool_started', toolUseId: call.id, waits, at: clock.now() });
  const run = async (call: Anthropic.ToolUseBlock): Promise<string | undefined> => {
    const { id, name, input } = call;
    let started = false;
    const begin: BeginCall = async (waits) => {
      started = waits !== true;
      await start(call, waits);
    };
    const outcome = await unlessAborted(callTool({ id, name, input }, signal, begin), signal, clock);
    if (outcome === undefined || (signal.aborted && (!started || isRepeatable(call)))) return undefined;
    if (outcome.question !== undefined) return outcome.question;
    await finish(call, outcome);
    return undefined;
  };

  const open = calls.filter(({ id }) => !has(after, 'tool_result', id));
  const lost = open.filter((call) => isUnderWay(after, call.id) && !isRepeatable(call));
  for (const call of lost) await finish(call, { content: interrupted, isError: true });
  const due = open.filter((call) => !lost.includes(call));
  if (signal.aborted) return undefined;
  if (calls.every(({ name }) => traits.get(name)?.sideEffects === false)) {
    const ended = await Promise.allSettled(due.map(run));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
    return ended.flatMap((one) =>
      one.status === 'fulfilled' && one.value !== undefined ? [one.value] : [],
    )[0];
  }
  for (const call of due) {
    if (signal.aborted) return undefined;
    const question = await run(call);
    if (question !== undefined) return question;
  }
  return undefined;
}

function has(after: readonly Entry[], kind: 'tool_result', id: string): boolean {
  return after.some((entry) => entry.kind === kind && entry.toolUseId === id);
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, clock: Clock): Promise<T | undefined> {
  const over = new AbortController();
  const { promise: waitedEnough, resolve } = Promise.withResolvers<undefined>();
  const stopListening = onAbort(signal, () => {
    clock.sleep(graceMs, over.signal).then(
      () => resolve(undefined),
      () => resolve(undefined),
    );
  });
  try {
    return await Promise.race([work, waitedEnough]);
  } finally {
    stopListening();
    over.abort();
  }
}
