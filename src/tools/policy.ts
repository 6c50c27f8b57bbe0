import { listsId } from '../access/chat-id.ts';
import type { Requester, Risk } from '../core/tool.ts';
import { chatIdOf } from '../core/conversation.ts';
import { matchesGlob } from './matches-glob.ts';

export type PolicyAction = 'allow' | 'confirm' | 'deny';

/** One rule: it means a call that everything it names fits. */
export type PolicyRule = Readonly<{
  /** Name or glob. */
  tool?: string | undefined;
  /** Of the run that calls; no call of the main agent fits. */
  skill?: string | undefined;
  chat?: string | undefined;
  sender?: string | undefined;
  action: PolicyAction;
}>;

/** `[policy]`: an action for each risk, and rules that stand in its place (T8). */
export type Policy = Readonly<Record<Risk, PolicyAction> & { rules: readonly PolicyRule[] }>;

/** What policy looks at. */
export type PolicyCase = Readonly<{
  tool: string;
  skill?: string;
  risk: Risk;
  requester: Requester;
  /** The call reaches outside from where the output of a sensitive skill or a capability is known (S7). */
  marked: boolean;
}>;

/**
 * What happens to a call: the strictest of the rules that fit, deny > confirm > allow, else what its risk asks for (T8). Of a
 * marked call no rule makes more than `confirm` (S7). `eachTime`: a person's "Always" does not count for it.
 */
export function decidePolicy(
  policy: Policy,
  of: PolicyCase,
): Readonly<{ action: PolicyAction; eachTime: boolean }> {
  const actions = policy.rules.filter((rule) => fits(rule, of)).map(({ action }) => action);
  const ruled = strictest.find((action) => actions.includes(action));
  const action = ruled ?? policy[of.risk];
  return {
    action: of.marked && action === 'allow' ? 'confirm' : action,
    eachTime: of.marked || of.risk === 'critical' || ruled !== undefined,
  };
}

const strictest = ['deny', 'confirm', 'allow'] as const;

function fits({ tool, skill, chat, sender }: PolicyRule, of: PolicyCase): boolean {
  if (skill !== undefined && skill !== of.skill) return false;
  if (chat !== undefined && !listsId([chat], chatIdOf(of.requester.conversation))) return false;
  if (sender !== undefined && !listsId([sender], of.requester.sender)) return false;
  return tool === undefined || matchesGlob(tool, of.tool);
}
