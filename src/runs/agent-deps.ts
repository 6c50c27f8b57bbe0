import type { App } from '../app.ts';
import type { StillAdmitted } from '../access/while-admitted.ts';
import type { Feature } from '../core/feature.ts';
import type { Skill } from '../core/skill.ts';
import type { JudgeCalls } from './judge-calls.ts';
import type { ModelFor } from './model-for.ts';
import type { Availability } from './requirements.ts';
import type { Requirements } from './use-skill.ts';

/** What every turn and run uses: the shared parts, the features, and decisions that are made again while work is running. */
export type AgentDeps = App &
  Readonly<{
    features: readonly Feature[];
    stillAdmitted: StillAdmitted;
    judgeCalls: JudgeCalls;
    availability: Availability;
    requirements: Requirements;
    /** The skill with its approval as it is now (D9). */
    asItStands(skill: Skill): Promise<Skill>;
    modelFor: ModelFor;
  }>;
