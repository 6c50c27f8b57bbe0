import type { Clock } from '../lib/clock.ts';
import { chatIdOf } from '../core/conversation.ts';
import type { Decision } from '../access/decide-message.ts';
import type { Envelope } from '../core/envelope.ts';
import type { Skill } from '../core/skill.ts';
import type { Provenance } from '../core/provenance.ts';
import { decideWrite } from '../core/tool-writes.ts';
import type { DeliverArtifacts, Tool } from '../core/tool.ts';
import { hashSkill } from '../skills/install/hash-skill.ts';
import { sayIn } from '../core/texts/say.ts';
import type { Store } from '../store/store.ts';
import type { DecideCall, JudgedCall } from '../tools/call-tool.ts';
import { decidePolicy } from '../tools/policy.ts';
import {
  mayStand,
  type Approval,
  type ApprovalRequest,
  type AskPeople,
  type StandingRule,
} from '../core/approval.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import type { OutsideTools } from '../tools/outside-tools.ts';
import { createCallTaint, type CallTaint } from './call-taint.ts';
import type { StillAdmitted } from '../access/while-admitted.ts';
import { otherApprovers, whyNobodyElse } from '../access/approvers.ts';

type JudgedLoop = Readonly<{
  /** Undefined if the main agent makes the calls. */
  skill?: Skill;
  /** Names of the skills that the main agent follows in this turn. */
  activeSkills?(): readonly string[];
  run?: string;
  transcript: string;
  /** Whether the loop may continue. Checked again after a person has answered (D7). */
  mayGoOn(): Promise<Decision<'TOOL_POLICY_DENIED'>>;
  /** Runs `work` without counting its time against the loop's limit. */
  waiting<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Continues the call in a queue of its own if nobody has answered within 10 s (U9). Undefined: the loop waits. */
  later?(call: JudgedCall): Promise<Envelope>;
}>;

/** A person has to be asked. With `eachTime`, standing approvals do not count. */
type Confirm = Readonly<{ confirm: true; eachTime: boolean; fourEyes: boolean; marked: boolean }>;

const outwards =
  'This conversation holds what a sensitive skill or a linked account gave, and this call reaches outside: it could carry some of that away. A new conversation starts without it.';

const staysHere =
  'what a sensitive skill or a linked account gave stays in this conversation: start a new one, and do it there';

const patienceMs = 10_000;

/** How often one call may be asked about if its files change between question and answer (S16). */
const mostQuestions = 5;

export type JudgeCalls = ReturnType<typeof createJudgeCalls>;

/** Makes the function that decides about calls: `[policy]` first, then a person if it says `confirm` (T8). */
export function createJudgeCalls(options: {
  runtime: () => RuntimeConfig;
  ask: AskPeople;
  outside: OutsideTools;
  stillAdmitted: StillAdmitted;
  deliverArtifacts: DeliverArtifacts;
  /** Whose words the input of a call consists of (S13). */
  whose(text: string, of: Readonly<{ run: string; sender: string }>): Promise<Provenance>;
  store: Store;
  clock: Clock;
}) {
  const { runtime, ask, whose } = options;
  const callTaint = createCallTaint(options);
  const judge = createJudgeByPolicy({ ...options, carriesOut: callTaint.carriesOut });
  const confirm = createConfirm({ ...options, judge });

  return (loop: JudgedLoop): DecideCall =>
    async (call, signal) => {
      const decision = await decide(loop, call, signal);
      if (decision.allowed) await callTaint.record(call, loop.transcript);
      return decision;
    };

  async function decide(loop: JudgedLoop, call: JudgedCall, signal: AbortSignal): ReturnType<DecideCall> {
    const first = await judge(loop, call);
    if (!('confirm' in first)) return first;
    const { requester, tool } = call;
    const bound = boundTo(tool, loop.skill);
    const chat = chatIdOf(requester.conversation);
    const standing =
      first.eachTime || !mayStand(tool.name) ? undefined : { ...bound, chat, sender: requester.sender };
    if (standing !== undefined && (await ask.covers(standing))) return { allowed: true };
    const others = first.fourEyes
      ? otherApprovers(runtime().config.policy.approvers, requester.sender)
      : undefined;
    const nobody = others && whyNobodyElse(requester, others);
    if (nobody !== undefined) return nobodyElse(nobody);
    const of = { run: loop.transcript, sender: requester.sender };
    const request: ApprovalRequest = {
      ...bound,
      input: call.shown ?? call.input,
      standing: standing && { ...standing, from: await whose(wordsOf(call.input), of) },
      because: [first.marked ? outwards : undefined, call.because].filter(Boolean).join('\n\n') || undefined,
      byApprover: call.byApprover,
      others,
      requester,
      transcript: loop.transcript,
      toolUseId: call.id,
      run: loop.run,
    };
    return confirm(request, { loop, call, signal });
  }
}

type Judge = (loop: JudgedLoop, call: JudgedCall) => Promise<Decision<'TOOL_POLICY_DENIED'> | Confirm>;

/** Makes the function that decides without asking anybody. It is called once more after an answer. */
function createJudgeByPolicy({
  runtime,
  outside,
  stillAdmitted,
  carriesOut,
}: Readonly<{
  runtime: () => RuntimeConfig;
  outside: OutsideTools;
  stillAdmitted: StillAdmitted;
  carriesOut: CallTaint['carriesOut'];
}>): Judge {
  return async ({ skill, activeSkills, transcript, mayGoOn }, call) => {
    const { requester, risk, tool } = call;
    const admitted = await stillAdmitted(requester);
    if (!admitted.allowed) return admitted;
    const may = await mayGoOn();
    if (!may.allowed) return may;
    const mayUse = await outside.mayCall(tool, requester);
    if (!mayUse.allowed) return mayUse;
    const marked = await carriesOut(call, { skill, transcript });
    if (decideWrite(tool, marked) === 'refused') return denied(staysHere, staysHere);
    const { action, eachTime, fourEyes } = decidePolicy(runtime().config.policy, {
      tool: tool.name,
      risk,
      requester,
      marked,
      activeSkills: activeSkills?.(),
      skill: skill?.name,
    });
    if (action === 'allow' && call.shown === undefined) return { allowed: true };
    if (action === 'deny') return denied(`policy denies ${risk} calls of ${tool.name}`);
    // Changes in other systems are asked about each time (C5).
    return { confirm: true, eachTime: eachTime || call.shown !== undefined, fourEyes, marked };
  };
}

/**
 * Makes the function that asks people about a call. It asks again if a file that the call reads changed before the
 * answer.
 */
function createConfirm({
  ask,
  deliverArtifacts,
  judge,
}: Readonly<{ ask: AskPeople; deliverArtifacts: DeliverArtifacts; judge: Judge }>) {
  return async (
    request: ApprovalRequest,
    { loop, call, signal }: Readonly<{ loop: JudgedLoop; call: JudgedCall; signal: AbortSignal }>,
  ): ReturnType<DecideCall> => {
    const { requester, tool } = call;
    const { skill, waiting, later } = loop;
    let { because } = request;
    for (let times = 0; times < mostQuestions; times++) {
      const reads = await tool.reads?.(call.input);
      const answer = await waiting(() =>
        ask.request({ ...request, reads, because }, signal, {
          deliverArtifacts,
          patienceMs: later === undefined ? undefined : patienceMs,
        }),
      );
      if (answer.kind === 'unanswered' && later !== undefined)
        return { allowed: false, instead: await later(call) };
      if (answer.kind !== 'approved') return refusal(answer);
      if (request.files !== undefined && filesOf(skill) !== request.files)
        return denied(
          'the files of the skill changed after it was asked',
          'the skill changed meanwhile: nothing was done',
        );
      const again = await judge(loop, call);
      if (!('confirm' in again) && !again.allowed) return again;
      // The `four_eyes` rule may be newer than the question.
      if ('confirm' in again && again.fourEyes && answer.by === requester.sender)
        return nobodyElse('the person who asked approved it themselves');
      if ((await tool.reads?.(call.input)) === reads) return { allowed: true, approvedBy: answer.by };
      because = sayIn(requester.language)`A file that this call reads changed after you were asked.`;
    }
    return denied(
      'the files of the call changed after each question',
      'files that this call reads change all the time: nothing was done',
    );
  };
}

/** What an approval holds for: the tool as it is defined now, and the files of the skill that calls it. */
function boundTo(
  { name, definitionHash }: Tool,
  skill: Skill | undefined,
): Pick<StandingRule, 'tool' | 'definitionHash' | 'skill' | 'files'> {
  return { tool: name, definitionHash, skill: skill?.name, files: skill && filesOf(skill) };
}

function filesOf(skill: Skill | undefined): string {
  return skill?.directory === undefined ? '' : (hashSkill(skill.directory)?.hash ?? '');
}

/** The texts in an input, which somebody could have said. */
function wordsOf(input: unknown): string {
  if (typeof input === 'string') return input;
  return typeof input === 'object' && input !== null ? Object.values(input).map(wordsOf).join('\n') : '';
}

function denied(reason: string, hint?: string): Extract<Decision<'TOOL_POLICY_DENIED'>, { allowed: false }> {
  return { allowed: false, code: 'TOOL_POLICY_DENIED', reason, hint };
}

function nobodyElse(why: string): Extract<Decision<'TOOL_CONFIRMATION_REQUIRED'>, { allowed: false }> {
  const hint = `another approver has to agree to this call, and ${why}. Say so, and what was not done`;
  return { allowed: false, code: 'TOOL_CONFIRMATION_REQUIRED', reason: why, hint };
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
