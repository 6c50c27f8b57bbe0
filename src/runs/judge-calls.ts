import { startedIn, taintAround, taintOf, recordTaint, roomOf, wroteAddress } from '../access/taint-of.ts';
import type { Clock } from '../lib/clock.ts';
import { chatIdOf } from '../core/conversation.ts';
import type { Decision } from '../access/decide-message.ts';
import { isSensitive } from '../access/decide-skill.ts';
import type { Envelope } from '../core/envelope.ts';
import type { Skill } from '../core/skill.ts';
import { joinTaint, type Taint } from '../core/entry.ts';
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
import type { StillAdmitted } from '../access/while-admitted.ts';
import { otherApprovers, whyNobodyElse } from '../access/approvers.ts';

type JudgedLoop = Readonly<{
  /** Undefined: the main agent makes the calls. */
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

/** A person has to be asked. `eachTime`: standing approvals do not count. */
type Confirm = Readonly<{ confirm: true; eachTime: boolean; fourEyes: boolean; marked: boolean }>;

type MarkedLoop = Readonly<{ skill: Skill | undefined; transcript: string }>;

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
  outside: Pick<OutsideTools, 'mayCall'>;
  stillAdmitted: StillAdmitted;
  deliverArtifacts: DeliverArtifacts;
  /** Whose words the input of a call consists of (S13). */
  whose(text: string, of: Readonly<{ run: string; sender: string }>): Promise<Provenance>;
  store: Readonly<{ transcripts: Pick<Store['transcripts'], 'read'> }> & Pick<Store, 'commit'>;
  clock: Clock;
}) {
  const { runtime, ask, outside, stillAdmitted, deliverArtifacts, whose } = options;
  const { store, clock } = options;
  const { transcripts } = store;

  /** Whether the call could carry private data outside (S7). */
  async function isMarked(call: JudgedCall, of: MarkedLoop): Promise<boolean> {
    const { tool, input, requester, outward = false } = call;
    // An MCP server may send its input anywhere.
    const writes = decideWrite(tool, false) === 'outward';
    if (!outward && !writes && !tool.traits.requiresNetwork && !isForeign(tool)) return false;
    const around = await taintAround(transcripts, of.transcript);
    const known = joinTaint(around, await markInFolder(tool, of.transcript));
    if (known === undefined) return false;
    // A sensitive skill may send its own data to its own accounts and hosts.
    const belongs =
      outward || (tool.name === 'skills_run_script' && of.skill && isSensitive(of.skill, runtime().rules));
    if (belongs && of.skill?.name === known) return false;
    const address = tool.goesTo?.(input);
    if (address === undefined) return true;
    return !(await wroteAddress(transcripts, of.transcript, { sender: requester.sender, address }));
  }

  /** The taint of the conversation's folder, if the tool can reach it. */
  async function markInFolder(tool: Tool, transcript: string): Promise<Taint | undefined> {
    if (!tool.traits.requiresFilesystem || isForeign(tool)) return undefined;
    return taintOf(transcripts, roomOf(transcript));
  }

  /** Stores, before the call runs, what the conversation and its folder may hold afterwards. */
  async function note({ tool, taint }: JudgedCall, transcript: string): Promise<void> {
    const found = await markInFolder(tool, transcript);
    const begun = joinTaint(taint, found);
    await recordTaint(store, startedIn(transcript), begun, clock.now());
    const { requiresFilesystem, sideEffects } = tool.traits;
    if (begun === undefined && !(requiresFilesystem && sideEffects)) return;
    await recordTaint(store, roomOf(transcript), await taintAround(transcripts, transcript), clock.now());
  }

  return (loop: JudgedLoop): DecideCall => {
    const decide = judge(loop);
    return async (call, signal) => {
      const decision = await decide(call, signal);
      if (decision.allowed) await note(call, loop.transcript);
      return decision;
    };
  };

  function judge({ skill, activeSkills, run, transcript, mayGoOn, waiting, later }: JudgedLoop): DecideCall {
    return async (call, signal) => {
      const { requester, risk, tool } = call;
      const files = (): string =>
        skill?.directory === undefined ? '' : (hashSkill(skill.directory)?.hash ?? '');
      const ofSkill = { skill: skill?.name };
      const judged = async (): Promise<Decision<'TOOL_POLICY_DENIED'> | Confirm> => {
        const admitted = await stillAdmitted(requester);
        if (!admitted.allowed) return admitted;
        const may = await mayGoOn();
        if (!may.allowed) return may;
        const mayUse = await outside.mayCall(tool, requester);
        if (!mayUse.allowed) return mayUse;
        const marked = await isMarked(call, { skill, transcript });
        if (decideWrite(tool, marked) === 'refused') return denied(staysHere, staysHere);
        const of = { tool: tool.name, risk, requester, marked, activeSkills: activeSkills?.(), ...ofSkill };
        const { action, eachTime, fourEyes } = decidePolicy(runtime().config.policy, of);
        if (action === 'allow' && call.shown === undefined) return { allowed: true };
        if (action === 'deny') return denied(`policy denies ${risk} calls of ${tool.name}`);
        // Changes in other systems are asked about each time (C5).
        return { confirm: true, eachTime: eachTime || call.shown !== undefined, fourEyes, marked };
      };
      const first = await judged();
      if (!('confirm' in first)) return first;
      const bound = {
        tool: tool.name,
        definitionHash: tool.definitionHash,
        ...ofSkill,
        files: skill && files(),
      };
      const standing: StandingRule | undefined =
        first.eachTime || !mayStand(tool.name)
          ? undefined
          : { ...bound, chat: chatIdOf(requester.conversation), sender: requester.sender };
      if (standing !== undefined && (await ask.covers(standing))) return { allowed: true };
      const others = first.fourEyes
        ? otherApprovers(runtime().config.policy.approvers, requester.sender)
        : undefined;
      const nobody = others && whyNobodyElse(requester, others);
      if (nobody !== undefined) return nobodyElse(nobody);
      const of = { run: transcript, sender: requester.sender };
      const asked: ApprovalRequest = {
        ...bound,
        input: call.shown ?? call.input,
        standing: standing && { ...standing, from: await whose(wordsOf(call.input), of) },
        because: first.marked ? outwards : call.because,
        byApprover: call.byApprover,
        others,
        requester,
        transcript,
        toolUseId: call.id,
        run,
      };
      let because = asked.because;
      for (let times = 0; times < mostQuestions; times++) {
        const reads = await tool.reads?.(call.input);
        const answer = await waiting(() =>
          ask.request({ ...asked, reads, because }, signal, {
            deliverArtifacts,
            patienceMs: later === undefined ? undefined : patienceMs,
          }),
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
}

/** The texts in an input, which somebody could have said. */
function wordsOf(input: unknown): string {
  if (typeof input === 'string') return input;
  return typeof input === 'object' && input !== null ? Object.values(input).map(wordsOf).join('\n') : '';
}

/** Whether others can change the tool, as with tools of MCP servers. */
function isForeign({ definitionHash }: Tool): boolean {
  return definitionHash !== undefined;
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
