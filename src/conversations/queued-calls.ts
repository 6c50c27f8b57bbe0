import { z } from 'zod';
import { fail, succeed, type Envelope } from '../core/envelope.ts';
import type { Tool } from '../core/tool.ts';
import { notWaiting } from '../runs/run-skill.ts';
import { runIdOf } from '../runs/run-journal.ts';
import type { Tasks, WaitForTask } from '../runs/tasks.ts';
import { runningTask, type UseSkillOptions } from '../runs/use-skill.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import type { JudgedCall } from '../tools/call-tool.ts';
import type { OpenTurn } from './open-turn.ts';

/** Calls of a turn that become work in a queue beside the conversation, so that they may take long (U9). */
export type QueuedCalls = Readonly<{
  /** Waits for the run as long as a person would. */
  runSkill: NonNullable<UseSkillOptions['runQueued']>;
  /** The same tool, each call of which is made there. */
  queued(tool: Tool): Tool;
  /** A call that nobody has approved yet continues there. */
  later(call: JudgedCall): Promise<Envelope>;
}>;

export function createQueuedCalls(
  turn: OpenTurn,
  deps: Readonly<{
    runtime: () => Pick<RuntimeConfig, 'config'>;
    tasks: Pick<Tasks, 'setUp'>;
    waitForTask: WaitForTask;
    budgets: Pick<Budgets, 'ofRun' | 'atOnce'>;
  }>,
): QueuedCalls {
  const { tasks, waitForTask, budgets } = deps;
  const { message, transcript, requester, command } = turn;
  const { conversation } = message;
  const patienceMs = (): number => deps.runtime().config.agent.detachAfterSeconds * 1_000;

  async function setUp(tool: string, toolUseId: string, input: unknown): ReturnType<Tasks['setUp']> {
    const call = { skill: tool, tool, by: 'model', parent: transcript, toolUseId } as const;
    return tasks.setUp(message, { ...call, input: z.record(z.string(), z.unknown()).parse(input) });
  }

  return {
    async runSkill(skill, input, background, context) {
      const { toolUseId } = context;
      // Nobody answers for the person (U14).
      if (input.resume !== undefined && !turn.answers.has(input.resume))
        return fail('ARGUMENTS_INVALID', notWaiting(input.resume));
      const by = toolUseId === turn.ownCall ? 'person' : 'model';
      // A resumed run was counted when it started.
      const over =
        input.resume === undefined
          ? await budgets.ofRun(requester, skill, runIdOf(transcript, toolUseId))
          : undefined;
      const atOnce = budgets.atOnce(requester, skill);
      const call = { skill, tool: 'use_skill', input, by, parent: transcript, toolUseId } as const;
      const set = await tasks.setUp(message, call, (underWay) => over ?? atOnce(underWay));
      if ('refused' in set) return fail('LIMIT_REACHED', set.refused);
      const told = await waitForTask(set.id, conversation, background ? 0 : patienceMs(), context);
      return told ?? { running: set.id };
    },
    queued: (tool) => ({
      ...tool,
      // Called again, it finds its own work.
      traits: { ...tool.traits, idempotent: true },
      labelsOutput: true,
      async run(input, context) {
        const set = await setUp(tool.name, context.toolUseId, input);
        if ('refused' in set) return fail('LIMIT_REACHED', set.refused);
        const told = await waitForTask(set.id, conversation, patienceMs(), context);
        return told ?? succeed(runningTask(tool.name, set.id, command));
      },
    }),
    async later({ id, tool, input }) {
      const set = await setUp(tool.name, id, input);
      if ('refused' in set) return fail('LIMIT_REACHED', set.refused);
      return succeed(runningTask(tool.name, set.id, command));
    },
  };
}
