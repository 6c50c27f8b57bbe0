import { z } from 'zod';
import type { AccessContext } from '../access/decide-skill.ts';
import type { Pairing, PairingRequest } from '../access/pairing.ts';
import type { Users } from '../access/users.ts';
import type { Approvals } from '../features/approvals/approvals.ts';
import type { StandingRules } from '../features/approvals/standing-rules.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { SkillApprovals } from '../features/authoring/approve-skill.ts';
import type { CapabilityOperations } from '../features/capabilities/capability-base.ts';
import type { OnProgress } from '../channels/terminal/control.ts';
import type { Groups } from '../access/groups.ts';
import type { Clock } from '../lib/clock.ts';
import type { McpOperations } from '../features/mcp/server-agreement.ts';
import type { Store } from '../store/store.ts';
import type { AccessInForce } from './access/access-decisions.ts';
import type { ForgetSomebody } from './forget-somebody.ts';
import type { Readiness } from './health/open-metrics.ts';

/** What operations need to act on. */
export type OperateDeps = Readonly<{
  store: Pick<
    Store,
    | 'inbox'
    | 'outbox'
    | 'commit'
    | 'backup'
    | 'usage'
    | 'stats'
    | 'pendingRequests'
    | 'transcripts'
    | 'routines'
    | 'backlog'
    | 'check'
    | 'memories'
    | 'signals'
  >;
  users: Users;
  pairing: Pairing;
  groups: Pick<Groups, 'ignored' | 'revoke'>;
  welcome(request: PairingRequest): Promise<void>;
  accessOf: AccessContext;
  forget: ForgetSomebody;
  approvals: SkillApprovals;
  rules: Pick<StandingRules, 'list' | 'revoke'>;
  mcp: McpOperations;
  capabilities: CapabilityOperations;
  inForce(): Promise<AccessInForce>;
  /** The operator's time zone, as an IANA name. */
  zone(): string;
  /** What only a running bot can do. Undefined while no bot runs. */
  running?: RunningParts;
  audit: Pick<Audit, 'record' | 'tail' | 'verify'>;
  clock: Pick<Clock, 'now'>;
}>;

/** What is changed, and who changes it, for the audit. */
export const target = z.object({ id: z.string().min(1), by: z.string().min(1).optional() });
export const unnamed = 'operator';

/** What only a running bot can say or do. */
export type RunningParts = Readonly<{
  readiness(): Readiness;
  /** What is wrong with plugins, one sentence each. */
  plugins(): readonly string[];
  answer: Approvals['answer'];
}>;

export type Operation<Input, Output> = Readonly<{
  input: z.ZodType<Input>;
  /** True if the operation changes nothing. */
  readOnly: boolean;
  /** True if it works on the store itself while no bot runs (Q9). */
  offline: boolean;
  /** Runs the operation and returns plain data. What it throws is shown to the operator. */
  run(input: Input, deps: OperateDeps, onProgress?: OnProgress): Promise<Output>;
}>;

type Run<Input, Output> = Operation<Input, Output>['run'];

export function reads<Input, Output>(
  input: z.ZodType<Input>,
  run: Run<Input, Output>,
): Operation<Input, Output> {
  return { input, readOnly: true, offline: true, run };
}

export function changes<Input, Output>(
  input: z.ZodType<Input>,
  run: Run<Input, Output>,
): Operation<Input, Output> {
  return { input, readOnly: false, offline: true, run };
}
