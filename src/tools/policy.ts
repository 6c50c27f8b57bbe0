import { listsId } from '../access/chat-migrations.ts';
import { chatIdOf } from '../core/conversation.ts';
import type { Requester, Risk, Tool } from '../core/tool.ts';

const globbing = /[*?[]/;

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

/** How much harm a call of this tool could do: as declared, else worked out from its traits, `critical` never (T7). */
export function riskOf({ risk, traits }: Pick<Tool, 'risk' | 'traits'>): Risk {
  if (risk !== undefined) return risk;
  if (!traits.sideEffects) return 'safe';
  return traits.requiresNetwork || traits.requiresFilesystem ? 'dangerous' : 'moderate';
}

/** Whether commands and scripts can reach anything outside. */
export function reachesOutside(sandbox: Readonly<{ mode: string; reachesNetwork: boolean }>): boolean {
  return sandbox.mode === 'off' || sandbox.reachesNetwork;
}

/** The risk of commands and scripts: a sandbox without network can touch only its own folders (T7). */
export function riskInSandbox(sandbox: Readonly<{ mode: string; reachesNetwork: boolean }>): Risk {
  if (sandbox.mode === 'off') return 'critical';
  return sandbox.reachesNetwork ? 'dangerous' : 'moderate';
}

/**
 * Whether `text` is named by a pattern of `*`, `?` and sets (`[ab]`, `[a-z]`, `[!a]`). Takes time in proportion to
 * the product of both lengths at most, whatever the pattern. A set without its end, or of more than
 * 100 characters, is taken as plain characters.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  // Most patterns are told apart by how they begin.
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

/** Whether a name is a pattern rather than a plain name. */
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
