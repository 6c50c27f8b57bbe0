import { listsId } from '../access/chat-migrations.ts';
import { chatIdOf } from '../core/conversation.ts';
import { risks, type Requester, type Risk, type Tool } from '../core/tool.ts';

const globbing = /[*?[]/;

export type PolicyAction = 'allow' | 'confirm' | 'deny';

/** One rule of the policy. It applies to a call that matches all its fields. */
export type PolicyRule = Readonly<{
  tool?: string | undefined;
  /**
   * Applies to calls of this skill's runs. While the main agent follows the skill, the rule can only make its calls
   * stricter.
   */
  skill?: string | undefined;
  chat?: string | undefined;
  sender?: string | undefined;
  action: PolicyAction;
  /** True: somebody else than the requester has to approve. */
  fourEyes?: boolean | undefined;
}>;

export type Policy = Readonly<Record<Risk, PolicyAction> & { rules: readonly PolicyRule[] }>;

/** For whom, and in which skills, calls are made. */
type PolicyCaller = Readonly<{
  skill?: string | undefined;
  /** Names of the skills that the main agent follows in this turn. */
  activeSkills?: readonly string[] | undefined;
  requester: Requester;
}>;

type PolicyCase = PolicyCaller &
  Readonly<{
    tool: string;
    risk: Risk;
    /** True if the call is tainted and reaches outside (S7). */
    marked: boolean;
  }>;

/**
 * What the policy says about a call: the strictest matching rule, otherwise the action of the call's risk. Rules can't
 * loosen tainted calls below `confirm` (T8, S7). `eachTime`: an "Always" does not count. `fourEyes`: somebody else than
 * the requester has to approve.
 */
export function decidePolicy(
  policy: Policy,
  of: PolicyCase,
): Readonly<{ action: PolicyAction; eachTime: boolean; fourEyes: boolean }> {
  const own = policy.rules.filter((rule) => fits(rule, of));
  const followed = (of.activeSkills ?? []).flatMap((skill) =>
    policy.rules.filter((rule) => rule.skill === skill && fits(rule, { ...of, skill })),
  );
  const fitting = [...own, ...followed];
  const ruled = strictestOf(own);
  const action = strictestOf([...followed, { action: ruled ?? policy[of.risk] }]) ?? 'deny';
  return {
    action: of.marked && action === 'allow' ? 'confirm' : action,
    eachTime: of.marked || of.risk === 'critical' || fitting.length > 0,
    fourEyes: fitting.some(({ fourEyes }) => fourEyes === true),
  };
}

/** Finds tools of which the policy refuses every call, whatever its input. The model need not see them (T8). */
export function deniesEveryCall(policy: Policy, of: PolicyCaller): (tool: Tool) => boolean {
  return (tool) => {
    const dependsOnInput = tool.assess !== undefined || tool.now !== undefined;
    return (dependsOnInput ? risks : [riskOf(tool)]).every(
      (risk) => decidePolicy(policy, { ...of, tool: tool.name, risk, marked: false }).action === 'deny',
    );
  };
}

/** Whether the model may be offered a tool that its server calls itself: only if the policy lets each call pass (M21). */
export function letsModelCall(policy: Policy, of: PolicyCaller): (tool: Tool) => boolean {
  return (tool) =>
    tool.byModel !== true ||
    decidePolicy(policy, { ...of, tool: tool.name, risk: riskOf(tool), marked: false }).action === 'allow';
}

function strictestOf(rules: readonly PolicyRule[]): PolicyAction | undefined {
  return strictest.find((action) => rules.some((rule) => rule.action === action));
}

const strictest = ['deny', 'confirm', 'allow'] as const;

function fits({ tool, skill, chat, sender }: PolicyRule, of: PolicyCase): boolean {
  if (skill !== undefined && skill !== of.skill) return false;
  if (chat !== undefined && !listsId([chat], chatIdOf(of.requester.conversation))) return false;
  if (sender !== undefined && !listsId([sender], of.requester.sender)) return false;
  return tool === undefined || matchesGlob(tool, of.tool);
}

/** The declared risk, or the one that the traits suggest, which is never `critical` (T7). */
export function riskOf({ risk, traits }: Pick<Tool, 'risk' | 'traits'>): Risk {
  if (risk !== undefined) return risk;
  if (!traits.sideEffects) return 'safe';
  return traits.requiresNetwork || traits.requiresFilesystem ? 'dangerous' : 'moderate';
}

export function reachesOutside(sandbox: Readonly<{ mode: string; reachesNetwork: boolean }>): boolean {
  return sandbox.mode === 'off' || sandbox.reachesNetwork;
}

/** The risk of commands. Without network, a sandbox can touch only its own folders (T7). */
export function riskInSandbox(sandbox: Readonly<{ mode: string; reachesNetwork: boolean }>): Risk {
  if (sandbox.mode === 'off') return 'critical';
  return sandbox.reachesNetwork ? 'dangerous' : 'moderate';
}

/**
 * Matches `*`, `?` and sets such as `[a-z]`. Time is limited by the product of both lengths. A set that is not closed,
 * or is longer than 100 characters, is literal.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const plain = pattern.search(globbing);
  if (plain < 0) return pattern === text;
  if (!text.startsWith(pattern.slice(0, plain))) return false;
  const steps = stepsOf(pattern);
  const characters = [...text];
  let step = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < characters.length) {
    const matcher = steps[step];
    if (matcher === 'any') {
      star = step++;
      resume = at;
    } else if (matcher?.(characters[at] ?? '') === true) {
      step++;
      at++;
    } else if (star >= 0) {
      step = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return steps.slice(step).every((rest) => rest === 'any');
}

export function isGlob(name: string): boolean {
  return globbing.test(name);
}

type Step = 'any' | ((character: string) => boolean);

function stepsOf(pattern: string): readonly Step[] {
  const pieces = pattern.match(/\*+|\?|\[!?[^\]]{1,100}\]|[^]/gu) ?? [];
  return pieces.map((piece) => {
    if (piece.startsWith('*')) return 'any';
    if (piece === '?') return () => true;
    if (piece.length > 1 && piece.startsWith('[')) return setOf(piece.slice(1, -1));
    return (character) => character === piece;
  });
}

function setOf(inside: string): (character: string) => boolean {
  const without = inside.length > 1 && inside.startsWith('!');
  const members = (without ? inside.slice(1) : inside).match(/[^]-[^]|[^]/gu) ?? [];
  return (character) => {
    const listed = members.some((member) => {
      const [from = '', dash, to] = [...member];
      return dash === undefined || to === undefined
        ? character === from
        : from <= character && character <= to;
    });
    return listed !== without;
  };
}
