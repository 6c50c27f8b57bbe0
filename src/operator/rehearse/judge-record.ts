import { z } from 'zod';
import { whyNotTheirs } from '../../access/approvers.ts';
import { english } from '../../access/decide-message.ts';
import { createRuleAt, ruleName, type Ruling } from '../../access/ruling.ts';
import type { Config } from '../../config/complete-config.ts';
import type { ToolTable } from '../../core/built-in-tools.ts';
import type { Requester } from '../../core/tool.ts';
import type { Log } from '../../lib/log.ts';
import { costOf } from '../../limits/costs.ts';
import type { Registry } from '../../skills/registry.ts';
import { mainTools } from '../../tools/main-tools.ts';
import { decidePolicy, type PolicyAction } from '../../tools/policy.ts';
import type { AccessDecisions } from '../access/access-decisions.ts';
import { openGates } from '../access/open-gates.ts';
import type { RehearsalRecord, RehearsedCase } from './rehearsal-record.ts';

/** What a config decides about one case, and by which rule. */
const verdict = z.object({
  is: z.enum(['allowed', 'refused', 'ask']),
  code: z.string().optional(),
  reason: z.string(),
  rule: z.string(),
});
export type Ruled = Readonly<z.output<typeof verdict>>;

/** What a config decides about a record, as another version may have written it. */
export const storedJudgement = z.object({
  /** One for each case of the record, in its order. */
  verdicts: z.array(verdict).readonly(),
  /** Names of the skills that the main agent sees, by who writes where. */
  seen: z.record(z.string(), z.array(z.string()).readonly()),
  /** What the tokens of that time cost by the prices of this config, in US dollars. */
  usd: z.number(),
  /** Tokens of models without a price. */
  unpriced: z.number(),
});
export type Judgement = Readonly<z.output<typeof storedJudgement>>;

type Case<Kind> = Extract<RehearsedCase, { kind: Kind }>;
type Who = RehearsedCase['who'];

/**
 * Judges a record by a config, its skills and its policy, with the functions that decide in a running bot. Nothing runs,
 * and the store is one in memory that knows what owners decided (L20).
 */
export async function judgeRecord(
  { cases, known, usage }: RehearsalRecord,
  by: Readonly<{ config: Config; registry: Registry; builtInTools: ToolTable; log: Log }>,
): Promise<Judgement> {
  const { config } = by;
  const gates = await openGates(config, by, known);
  try {
    const decided = new Map<string, Promise<AccessDecisions>>();
    const decide = (who: Who): Promise<AccessDecisions> => {
      const key = JSON.stringify(who);
      const found = decided.get(key) ?? gates.decide(who);
      decided.set(key, found);
      return found;
    };
    const judge = createJudge({ ...by, decide, isOwner: gates.isOwner });
    const verdicts: Ruled[] = [];
    for (const one of cases) verdicts.push(await judge(one));
    const seen: Record<string, readonly string[]> = {};
    for (const [key, decisions] of decided) {
      const { addressed: _addressed, ...who } = JSON.parse(key) as Who;
      const { message, skills } = await decisions;
      if (message.allowed)
        seen[`${who.sender} in ${who.channel}:${who.chat}`] = skills.flatMap(({ name, byModel }) =>
          byModel.allowed ? [name] : [],
        );
    }
    const priced = usage.map(({ model, tokens }) => ({ tokens, usd: costOf(config, model, tokens) }));
    return {
      ...{ verdicts, seen },
      usd: priced.reduce((sum, { usd = 0 }) => sum + usd, 0),
      unpriced: priced.reduce(
        (sum, { tokens, usd }) => sum + (usd === undefined ? tokens.input + tokens.output : 0),
        0,
      ),
    };
  } finally {
    await gates.close();
  }
}

type Around = Readonly<{
  config: Config;
  builtInTools: ToolTable;
  decide(who: Who): Promise<AccessDecisions>;
  isOwner(sender: string): Promise<boolean>;
}>;

function createJudge(around: Around): (one: RehearsedCase) => Promise<Ruled> {
  const access = createJudgeAccess(around);
  const judgeCall = createJudgeCall(around, access);
  const judgePress = createJudgePress(around, access);
  return async (one) => {
    switch (one.kind) {
      case 'message':
        return access(one.who, undefined);
      case 'skill':
        return access(one.who, one.skill);
      case 'call':
        return judgeCall(one);
      case 'press':
        return judgePress(one);
    }
  };
}

type JudgeAccess = (who: Who, skill: string | undefined) => Promise<Ruled>;

/** Makes the function that decides whether a person may talk there and use the skill, if one is meant. */
function createJudgeAccess({ decide }: Around): JudgeAccess {
  return async (who, skill) => {
    const { message, skills } = await decide(who);
    if (!message.allowed || skill === undefined) return ruledBy(message);
    const of = skills.find(({ name }) => name === skill);
    if (of === undefined)
      return { is: 'refused', code: 'SKILL_NOT_FOUND', reason: `there is no skill ${skill}`, rule: 'skills' };
    // The record does not say whether the person or the model started it, so one of both is enough.
    return of.byModel.allowed ? { ...ruledBy(of.byPerson), is: 'allowed' } : ruledBy(of.byPerson);
  };
}

function createJudgeCall({ config, builtInTools }: Around, access: JudgeAccess) {
  const { policy } = config;
  const ruleAt = createRuleAt(config.path, english);
  const offered = new Set(mainTools(config, builtInTools));
  const ofMain = new Set(builtInTools.names(({ main }) => main !== undefined));

  return async ({ who, tool, skill, risk }: Case<'call'>): Promise<Ruled> => {
    const may = await access(who, skill);
    if (may.is !== 'allowed') return may;
    if (skill === undefined && ofMain.has(tool) && !offered.has(tool)) {
      const reason = `the main agent has no ${tool}`;
      return { is: 'refused', code: 'TOOL_NOT_ALLOWED', reason, rule: ruleName(ruleAt(['agent', 'tools'])) };
    }
    const of = { tool, skill, risk, requester: requesterOf(who), marked: false };
    const { action } = decidePolicy(policy, of);
    // The rule that decides is the one without which it would be decided otherwise.
    const deciding = policy.rules.findIndex(
      (rule) =>
        decidePolicy({ ...policy, rules: policy.rules.filter((one) => one !== rule) }, of).action !== action,
    );
    const key = deciding < 0 ? ['policy', risk] : ['policy', 'rules', deciding];
    return { is: actions[action], reason: `${risk} call of ${tool}: ${action}`, rule: ruleName(ruleAt(key)) };
  };
}

function createJudgePress({ config, isOwner }: Around, access: JudgeAccess) {
  const { policy } = config;
  const rule = ruleName(createRuleAt(config.path, english)(['policy', 'approvers']));

  return async ({ who, requester, tool, skill, was }: Case<'press'>): Promise<Ruled> => {
    const may = await access(who, undefined);
    if (may.is !== 'allowed') return may;
    // Who else has to approve depends on rules alone, not on the risk.
    const { fourEyes } = decidePolicy(policy, {
      ...{ tool, skill, risk: 'dangerous', marked: false },
      requester: requesterOf({ ...who, sender: requester }),
    });
    const why = await whyNotTheirs(
      { requester, payload: { fourEyes } },
      { sender: who.sender, approves: was === 'approved' },
      { approvers: () => policy.approvers, isOwner },
      english,
    );
    return why === undefined
      ? { is: 'allowed', reason: `${who.sender} may answer`, rule }
      : { is: 'refused', code: 'NOT_AN_APPROVER', reason: why, rule };
  };
}

const actions = { allow: 'allowed', confirm: 'ask', deny: 'refused' } as const satisfies Record<
  PolicyAction,
  Ruled['is']
>;

function ruledBy({ allowed, code, reason, rule }: Ruling): Ruled {
  return {
    is: allowed ? 'allowed' : 'refused',
    code,
    reason,
    rule: rule === undefined ? '' : ruleName(rule),
  };
}

function requesterOf({ sender, kind, channel, chat, chatType, external }: Who): Requester {
  return { sender, kind, conversation: { channel, chat }, chatType, external, name: '' };
}
