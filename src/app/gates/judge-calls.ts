import { markAround, wroteAddress } from '../../agent/marks.ts';
import { chatIdOf } from '../../core/conversation.ts';
import type { Decision } from '../../core/decision.ts';
import { isSensitive } from '../../core/decide-skill.ts';
import type { Envelope } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import type { HandOver } from '../../core/tool.ts';
import { hashSkill } from '../../skills/hash-skill.ts';
import type { Store } from '../../stores/store.ts';
import type { DecideCall, JudgedCall } from '../../tools/call-tool.ts';
import { decidePolicy } from '../../tools/policy.ts';
import type { AskedCall } from './approval-question.ts';
import type { Approval, Approvals } from './approvals.ts';
import type { Live } from '../live.ts';
import type { OutsideTools } from '../outside-tools.ts';
import type { StillAdmitted } from './while-admitted.ts';
import { mayStand, type StandingRule, type StandingRules } from './standing-rules.ts';

/** One loop's calls, as policy judges them. */
export type JudgedLoop = Readonly<{
  /** Of a run; absent for the main agent. */
  skill?: Skill;
  run?: string;
  transcript: string;
  /** What else must hold, judged anew for each call and again after a person's answer (D7). */
  mayGoOn(): Promise<Decision<'TOOL_POLICY_DENIED'>>;
  /** Waits for a person in a way that counts against no time limit. */
  waiting<Result>(work: () => Promise<Result>): Promise<Result>;
  /** What becomes of a call that nobody answered for 10 s: it goes on by itself (U9). Absent: it is waited for. */
  later?(call: JudgedCall): Promise<Envelope>;
}>;

/** A person is to be asked; `eachTime`: whatever they said "Always" to. */
type Confirm = Readonly<{ confirm: true; eachTime: boolean; marked: boolean }>;

type MarkedLoop = Readonly<{ skill: Skill | undefined; transcript: string }>;

const outwards =
  'This conversation holds what a sensitive skill or a linked account gave, and this call reaches outside: it could carry some of that away. A new conversation starts without it.';

const patienceMs = 10_000;

export type JudgeCalls = ReturnType<typeof createJudgeCalls>;

/** Host policy (T8): what config says of a call, and a person's word where it says `confirm`. */
export function createJudgeCalls(options: {
  live: () => Live;
  approvals: Approvals;
  rules: Pick<StandingRules, 'covers'>;
  outside: Pick<OutsideTools, 'mayCall'>;
  stillAdmitted: StillAdmitted;
  handOver: HandOver;
  store: Readonly<{ transcripts: Pick<Store['transcripts'], 'read'> }>;
}) {
  const { live, approvals, rules, outside, stillAdmitted, handOver } = options;
  const { transcripts } = options.store;

  /** Whether a call could carry out what it was not meant to: it reaches outside, and what it knows is private (S7). */
  async function isMarked({ tool, input, requester }: JudgedCall, of: MarkedLoop): Promise<boolean> {
    // What an MCP server does with what it is given, nobody can see.
    if (!tool.traits.requiresNetwork && !tool.name.startsWith('mcp_')) return false;
    const known = await markAround(transcripts, of.transcript);
    if (known === undefined) return false;
    // The script of a sensitive skill reaches the hosts that belong to it, with what that skill itself gave.
    const own = tool.name === 'skills_run_script' && of.skill?.name === known;
    if (own && isSensitive(of.skill, live().rules)) return false;
    const address = tool.goesTo?.(input);
    if (address === undefined) return true;
    return !(await wroteAddress(transcripts, of.transcript, { sender: requester.sender, address }));
  }

  return ({ skill, run, transcript, mayGoOn, waiting, later }: JudgedLoop): DecideCall =>
    async (call, signal) => {
      const { requester, risk, tool } = call;
      const files = (): string =>
        skill?.directory === undefined ? '' : (hashSkill(skill.directory)?.hash ?? '');
      const ofSkill = skill === undefined ? {} : { skill: skill.name };
      const judged = async (): Promise<Decision<'TOOL_POLICY_DENIED'> | Confirm> => {
        const admitted = await stillAdmitted(requester);
        if (!admitted.allowed) return admitted;
        const may = await mayGoOn();
        if (!may.allowed) return may;
        const mayUse = await outside.mayCall(tool, requester);
        if (!mayUse.allowed) return mayUse;
        const marked = await isMarked(call, { skill, transcript });
        const of = { tool: tool.name, risk, requester, marked, ...ofSkill };
        const { action, eachTime } = decidePolicy(live().config.policy, of);
        if (action === 'allow' && call.shown === undefined) return { allowed: true };
        if (action === 'deny') return denied(`policy denies ${risk} calls of ${tool.name}`);
        // What changes something behind a capability is asked for each time, whatever policy says (C5).
        return { confirm: true, eachTime: eachTime || call.shown !== undefined, marked };
      };
      const first = await judged();
      if (!('confirm' in first)) return first;
      const bound = {
        tool: tool.name,
        ...(tool.edition === undefined ? {} : { edition: tool.edition }),
        ...(skill === undefined ? {} : { ...ofSkill, files: files() }),
      };
      const standing: StandingRule | undefined =
        first.eachTime || !mayStand(tool.name)
          ? undefined
          : { ...bound, chat: chatIdOf(requester.conversation), sender: requester.sender };
      if (standing !== undefined && (await rules.covers(standing))) return { allowed: true };
      const asked: AskedCall = {
        ...bound,
        input: call.shown ?? call.input,
        ...(standing === undefined ? {} : { standing }),
        ...(first.marked ? { because: outwards } : {}),
        requester,
        transcript,
        toolUseId: call.id,
        ...(run === undefined ? {} : { run }),
      };
      const answer = await waiting(() =>
        approvals.request(asked, signal, { handOver, ...(later === undefined ? {} : { patienceMs }) }),
      );
      if (answer.kind === 'unanswered' && later !== undefined)
        return { allowed: false, instead: await later(call) };
      if (answer.kind !== 'approved') return refusal(answer);
      if (asked.files !== undefined && files() !== asked.files)
        return denied(
          'the files of the skill changed after it was asked',
          'the skill changed meanwhile: nothing was done',
        );
      const again = await judged();
      return 'confirm' in again || again.allowed ? { allowed: true, approvedBy: answer.by } : again;
    };
}

function denied(reason: string, hint?: string): Extract<Decision<'TOOL_POLICY_DENIED'>, { allowed: false }> {
  return { allowed: false, code: 'TOOL_POLICY_DENIED', reason, ...(hint === undefined ? {} : { hint }) };
}

function refusal(
  answer: Approval,
): Extract<Decision<'TOOL_POLICY_DENIED' | 'TOOL_CONFIRMATION_REQUIRED'>, { allowed: false }> {
  if (answer.kind === 'nobody') {
    const hint = 'a person has to agree to this call, and nobody can be asked here: say what was not done';
    return { allowed: false, code: 'TOOL_CONFIRMATION_REQUIRED', reason: 'nobody can be asked', hint };
  }
  const why = {
    denied: 'the person said no to this call',
    expired: 'nobody agreed to this call within 5 minutes',
    stopped: 'the work was stopped',
  }[answer.kind === 'denied' || answer.kind === 'expired' ? answer.kind : 'stopped'];
  return denied(why, `${why}: do not try it another way, say what was not done`);
}
