import { decideSkill, type AccessContext } from '../access/decide-skill.ts';
import { placeOf } from '../audit/audit-event.ts';
import type { Audit } from '../audit/create-audit.ts';
import { noTokens } from '../core/model.ts';
import type { Skill } from '../core/skill.ts';
import type { Requester, Tool, ToolContext } from '../core/tool.ts';
import type { Log } from '../lib/log.ts';
import type { Budgets } from '../limits/budgets.ts';
import { runIdOf, type HasStarted } from './run-journal.ts';
import type { RunPlace, RunSkill } from './run-skill.ts';
import { createUseSkill, type OnDenied } from './use-skill.ts';
import type { Host, SkillSupply } from './work-deps.ts';

/** Skills inside one another, the outermost included (U7). */
const depthLimit = 3;

export type ChainedSkills = (skill: Skill, run: RunPlace, requester: Requester) => Promise<Tool>;

/**
 * `use_skill` for a run (U7): access is decided again for the original sender and chat. No skill inside itself, at
 * most three deep: RECURSION_LIMIT.
 */
export function createChainedSkills({
  host: { runtime, audit, log },
  skills: { library, availability, requirements },
  accessOf,
  runSkill,
  hasStarted,
  budgets,
}: Readonly<{
  host: Pick<Host, 'runtime' | 'audit' | 'log'>;
  skills: Pick<SkillSupply, 'library' | 'availability' | 'requirements'>;
  accessOf: AccessContext;
  runSkill: RunSkill;
  hasStarted: HasStarted;
  budgets: Pick<Budgets, 'ofRun'>;
}>): ChainedSkills {
  const onDenied = createReportDenial({ audit, log });

  /** A run that has started is not judged again (Q5). */
  async function limited(
    inner: Skill,
    { transcript }: RunPlace,
    requester: Requester,
    { toolUseId }: Pick<ToolContext, 'toolUseId'>,
  ): Promise<string | undefined> {
    if (await hasStarted(transcript, toolUseId)) return undefined;
    return budgets.ofRun(requester, inner.name, runIdOf(transcript, toolUseId));
  }

  return async (skill, run, requester) => {
    const chain = [...run.chain, skill.name];
    const use = {
      ...(await accessOf({ ...requester, sender: { id: requester.sender } })),
      by: 'model',
    } as const;
    const visible = (): readonly Skill[] => {
      return library
        .current()
        .available(availability())
        .filter((other) => !chain.includes(other.name) && decideSkill(other, runtime().rules, use).allowed);
    };
    return createUseSkill({
      skills: {
        visible,
        find: async (name) => library.current().get(name) ?? (await library.rescan()).get(name),
      },
      access: { rules: () => runtime().rules, use: () => use, onDenied },
      requirements,
      async run(inner, request, context) {
        const stopped = chain.includes(inner.name)
          ? `${inner.name} is under way already: ${[...chain, inner.name].join(' → ')}`
          : chain.length >= depthLimit
            ? `no more than ${depthLimit} skills may be inside one another: ${chain.join(' → ')}`
            : undefined;
        const over = stopped ?? (await limited(inner, run, requester, context));
        if (over === undefined) return runSkill(inner, request, context, run.transcript, chain);
        const nothing = { iterations: 0, durationMs: 0, tokens: noTokens, truncated: false, artifacts: [] };
        const code = stopped === undefined ? 'LIMIT_REACHED' : 'RECURSION_LIMIT';
        return { status: 'error', code, text: over, ...nothing };
      },
      hasStarted: (call) => hasStarted(run.transcript, call),
    });
  };
}

/** For log and audit (A8, L6). */
export function createReportDenial({
  audit,
  log,
}: Readonly<{ audit: Pick<Audit, 'record'>; log: Log }>): OnDenied {
  return ({ skill, code, reason, requester }) => {
    log.info({ skill, code, reason, sender: requester.sender }, 'a skill was denied');
    void audit.record({ event: 'skill_refused', ...placeOf(requester), skill, code });
  };
}
