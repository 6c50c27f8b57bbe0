import type { CreateRunContext, RunSkill } from '../../runs/run-skill.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Meter } from '../../core/meter.ts';
import type { CallTool } from '../../core/tool-call.ts';
import type { Tool } from '../../core/tool.ts';
import { placeOf } from '../../audit/audit-event.ts';
import type { Audit } from '../../audit/create-audit.ts';
import type { CreateTurnContext } from '../../conversations/turn-context.ts';
import type { Handle } from '../../conversations/inbox-worker.ts';

export function measureTurns(handle: Handle, meter: Meter, clock: Clock): Handle {
  return async (item, signal) => {
    const began = clock.now();
    try {
      await handle(item, signal);
    } finally {
      meter.turn((clock.now() - began) / 1_000);
    }
  };
}

export function measureRuns(run: RunSkill, meter: Meter): RunSkill {
  return async (skill, ...rest) => {
    const result = await run(skill, ...rest);
    meter.count('runs', { skill: skill.name, status: result.status });
    return result;
  };
}

/** Records each run in the audit (L6). */
export function auditRuns(run: RunSkill, audit: Audit): RunSkill {
  return async (skill, request, context, ...rest) => {
    const result = await run(skill, request, context, ...rest);
    const { status, code, iterations, durationMs } = result;
    await audit.record({
      event: 'run',
      ...placeOf(context.requester),
      skill: skill.name,
      origin: skill.origin,
      status,
      code,
      iterations,
      durationMs,
    });
    return result;
  };
}

export function measureTurnCalls(createContext: CreateTurnContext, meter: Meter): CreateTurnContext {
  return async (input) => measured(await createContext(input), meter);
}

export function measureRunCalls(createContext: CreateRunContext, meter: Meter): CreateRunContext {
  return async (input) => {
    const granted = await createContext(input);
    return granted.ok ? measured(granted, meter) : granted;
  };
}

function measured<Granted extends Readonly<{ callTool: CallTool; tools: readonly Tool[] }>>(
  granted: Granted,
  meter: Meter,
): Granted {
  return {
    ...granted,
    async callTool(call, signal, begin) {
      const outcome = await granted.callTool(call, signal, begin);
      // The call is counted in the queue where it runs.
      if (outcome.finishesItem !== undefined) return outcome;
      // Models invent names, so only known ones are shown. A person's call of a skill is in no list.
      const known = call.name === 'use_skill' || granted.tools.some(({ name }) => name === call.name);
      const tool = known ? call.name : 'other';
      meter.count('tool_calls', { tool, outcome: outcome.isError ? 'error' : 'ok' });
      return outcome;
    },
  };
}
