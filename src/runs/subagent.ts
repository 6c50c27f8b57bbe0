import { z } from 'zod';
import { callsOf, readTurn } from '../agent/next-step.ts';
import { fail } from '../core/envelope.ts';
import type { Skill } from '../core/skill.ts';
import { defineTool, readOnly, type Tool } from '../core/tool.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { Store } from '../store/store.ts';
import { hasStarted } from './run-journal.ts';
import type { RunPlace, RunSkill } from './run-skill.ts';
import { envelopeOfWork } from './use-skill.ts';
import type { ToolRows } from '../core/built-in-tools.ts';
import { fixed } from '../core/texts/say.ts';

/** How people see the tool and who is offered it (T2, T5). */
export const subagentRows = {
  subagent: {
    icon: '👥',
    title: fixed`Subagents`,
    says: fixed`Hands a part of its work to a subagent.`,
    doing: fixed`handing over a part of the work`,
    risk: 'safe',
    runs: 'default',
    writes: 'here',
  },
} satisfies ToolRows;

const name = 'subagent';

/** How many subagents one run may start. */
const mostSubagents = 20;

const input = z.object({
  prompt: z.string().trim().min(1).describe('all that it has to know'),
  description: z.string().optional().describe('what it does, in a few words'),
});

/**
 * The tool that lets a run hand a part of its work to a loop of its own. That loop shares the run's skill, tools, env,
 * scratch folder, time and remaining iterations (U7). A repeated call resumes its journal (Q5).
 */
export function subagentTool(
  skill: Skill,
  run: RunPlace,
  maxIterations: number,
  {
    store,
    runSkill,
    budgets,
  }: Readonly<{
    store: Store;
    runSkill: RunSkill;
    budgets: Budgets;
  }>,
): Tool {
  const tool = defineTool({
    name,
    row: subagentRows.subagent,
    description:
      'Hands a part of the work to a subagent (Task or Agent in some instructions). It has your files and tools, sees only the prompt, and its answer comes back. Its steps count as yours.',
    input,
    traits: { ...readOnly, sideEffects: true },
    // Starting it is safe, because each of its calls is judged on its own (T7).
    risk: 'safe',
    async run({ prompt }, context) {
      const { requester, toolUseId } = context;
      const entries = (await store.transcripts.read(run.transcript)).entries.map(({ entry }) => entry);
      const calls = entries.flatMap((entry) => (entry.kind === 'assistant' ? callsOf(entry) : []));
      const earlier = calls.filter((call) => call.name === name).findIndex(({ id }) => id === toolUseId);
      if (earlier >= mostSubagents)
        return fail('LIMIT_REACHED', `a run has ${mostSubagents} subagents at most: do the rest yourself`);
      const left = maxIterations - readTurn(entries, 0).steps;
      if (left <= 0) return fail('LIMIT_REACHED', 'no steps are left: say what was not done');
      const over = (await hasStarted(run.transcript, toolUseId, store))
        ? undefined
        : await budgets.ofModel(requester, skill.name);
      if (over !== undefined) return fail('LIMIT_REACHED', over);
      const request = { skill: skill.name, message: prompt };
      const part = { scratch: run.scratch, deadline: run.deadline, maxIterations: left };
      const result = await runSkill(skill, request, context, run.transcript, run.chain, part);
      context.spend(result.iterations);
      if (result.taint !== undefined) context.addTaint(result.taint);
      return envelopeOfWork('the subagent', result);
    },
  });
  return { ...tool, labelsOutput: true };
}
