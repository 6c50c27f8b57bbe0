import { decideSkill } from '../access/decide-skill.ts';
import { placeOf } from '../audit/audit-event.ts';
import type { SkillResult, Skill } from '../core/skill.ts';
import type { Requester, Tool, ToolContext } from '../core/tool.ts';
import { hasStarted, runIdOf } from './run-journal.ts';
import { failedRun, type RunPlace, type RunSkill } from './run-skill.ts';
import { createUseSkill, type DeniedSkill, type SkillRequest } from './use-skill.ts';
import type { AgentDeps } from './agent-deps.ts';

/** How deeply skills may be nested, the outermost included (U7). */
const depthLimit = 3;

type ChainDeps = AgentDeps & Readonly<{ runSkill: RunSkill }>;

/**
 * The `use_skill` tool of a run. Access is decided again for the original sender and chat (U7). A skill inside itself,
 * or a fourth level, ends with RECURSION_LIMIT.
 */
export async function chainedUseSkill(
  skill: Skill,
  run: RunPlace,
  requester: Requester,
  deps: ChainDeps,
): Promise<Tool> {
  const { runtime, store, accessOf, library, availability, requirements } = deps;
  const chain = [...run.chain, skill.name];
  const person = await accessOf({ ...requester, sender: { id: requester.sender } });
  const use = { ...person, by: 'model' } as const;
  const mayUse = (other: Skill): boolean =>
    !chain.includes(other.name) && decideSkill(other, runtime().rules, use).allowed;
  return createUseSkill({
    skills: {
      visible: () => library.current().available(availability()).filter(mayUse),
      find: async (name) => library.current().get(name) ?? (await library.rescan()).get(name),
    },
    access: {
      rules: () => runtime().rules,
      use: () => use,
      onDenied: (denial) => reportDenial(denial, deps),
    },
    requirements,
    hasStarted: (call) => hasStarted(run.transcript, call, store),
    work: { run: (inner, request, context) => runInner(inner, request, context, { chain, run, deps }) },
  });
}

async function runInner(
  inner: Skill,
  request: SkillRequest,
  context: ToolContext,
  { chain, run, deps }: Readonly<{ chain: readonly string[]; run: RunPlace; deps: ChainDeps }>,
): Promise<SkillResult> {
  if (chain.includes(inner.name))
    return failedRun(
      'RECURSION_LIMIT',
      `${inner.name} is under way already: ${[...chain, inner.name].join(' → ')}`,
    );
  if (chain.length >= depthLimit)
    return failedRun(
      'RECURSION_LIMIT',
      `no more than ${depthLimit} skills may be inside one another: ${chain.join(' → ')}`,
    );
  const { transcript } = run;
  const { toolUseId, requester } = context;
  // A run that was started is finished, even if a budget has run out since (Q5).
  const over = (await hasStarted(transcript, toolUseId, deps.store))
    ? undefined
    : await deps.budgets.ofRun(requester, inner.name, runIdOf(transcript, toolUseId));
  if (over !== undefined) return failedRun('LIMIT_REACHED', over);
  return deps.runSkill(inner, request, context, transcript, chain);
}

export function reportDenial(
  { skill, code, reason, requester }: DeniedSkill,
  { audit, log }: AgentDeps,
): void {
  log.info({ skill, code, reason, sender: requester.sender }, 'a skill was denied');
  void audit.record({ event: 'skill_refused', ...placeOf(requester), skill, code });
}
