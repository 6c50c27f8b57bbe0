import type { Decision } from '../access/decide-message.ts';
import { fail, renderEnvelope, type Envelope } from '../core/envelope.ts';
import { joinTaint, type Taint } from '../core/entry.ts';
import {
  withDelivered,
  type CallAssessment,
  type DeliverArtifacts,
  type DeliveredFile,
  type Requester,
  type Risk,
  type Tool,
  type ToolContext,
} from '../core/tool.ts';
import type { AuditedCall, BeginCall, CallTool, ToolCall, ToolOutcome } from '../core/tool-call.ts';
import type { SettingValues } from '../core/tool-settings.ts';
import type { WorkStep } from '../core/plan.ts';
import { isShutdown } from '../lib/async/shutdown.ts';
import type { Log } from '../lib/log.ts';
import { escapeLabels } from '../lib/text/escape-labels.ts';
import { oneLine } from '../lib/text/text.ts';
import { storeFault } from '../store/store-fault.ts';
import { notAllowed, type CallLimits } from './allowed-tools.ts';
import { riskOf } from './policy.ts';
import { checkInput, readableError, reasonOf, recordCall, toldOf, waitInCall } from './record-call.ts';
import { doingOf, stepOf } from './tool-title.ts';

/** A call of an allowed tool with valid input, which policy and people now decide about (T8). */
export type JudgedCall = Readonly<{
  id: string;
  tool: Tool;
  input: unknown;
  risk: Risk;
  /** Set if a person has to agree to this very call. It is what they are shown. */
  shown?: unknown;
  /** True if the requester's own yes is not enough. */
  byApprover?: boolean | undefined;
  because?: string | undefined;
  taint?: Taint | undefined;
  account?: string | undefined;
  outward?: boolean;
  requester: Requester;
}>;

/** `reason` goes to the log and `hint` to the model; `instead` replaces the answer. If it throws, it denies (T8). */
export type DecideCall = (
  call: JudgedCall,
  signal: AbortSignal,
) => Promise<
  | Decision<'TOOL_POLICY_DENIED' | 'TOOL_CONFIRMATION_REQUIRED'>
  | Readonly<{ allowed: true; approvedBy: string }>
  | Readonly<{ allowed: false; instead: Envelope }>
>;

type CallScope = Readonly<{
  tools: readonly Tool[];
  allowed: CallLimits;
  requester: Requester;
  turn: string;
  run?: NonNullable<ToolContext['run']>;
}>;

type CallDeps = Readonly<{
  decide: DecideCall;
  settings: (tool: Tool) => Promise<SettingValues> | SettingValues;
  deliverArtifacts: DeliverArtifacts;
  audit: (call: AuditedCall) => Promise<void> | void;
  redact: (text: string) => string;
  /** Receives one redacted line about what the call is doing (T12, U13). */
  onProgress: (text: string) => void;
  onStep: (step: WorkStep) => void;
  waiting?: ToolContext['waits'];
  log: Log;
}>;

type Door = CallScope & CallDeps & Readonly<{ running: Set<Attempt> }>;

/** One call on its way through the steps, which fill in the optional fields. */
type Attempt = {
  readonly call: ToolCall;
  readonly signal: AbortSignal;
  readonly begin: BeginCall;
  readonly artifacts: DeliveredFile[];
  risk?: Risk;
  policy?: string;
  approvedBy?: string;
  /** True if the start of the call could not be stored, which is not the tool's fault. */
  unjournalled?: boolean;
  /** A shutdown that ended a call made by this one; then this one has no outcome either. */
  cutOff?: Error;
  finishesItem?: string;
  question?: string;
  taint?: Taint | undefined;
  steps?: number;
};

/** How many characters of a result the model gets at most (M3). */
const outputLimit = 30_000;
const cancelled = fail('CANCELLED', 'the call was stopped before it ended');

/**
 * Takes each call through the same steps: allowed, valid, assessed, policy, approval, journal, run, redact, cut, audit
 * (T5). An error of the tool becomes TOOL_FAILED; a cancelled call is no error (T11). Rejects at a shutdown, because
 * the call then has no outcome (Q13).
 */
export function createCallTool(scope: CallScope, deps: CallDeps): CallTool {
  const door: Door = { ...scope, ...deps, running: new Set() };
  return (call, signal, begin = async () => undefined) =>
    passDoor({ call, signal, begin, artifacts: [] }, door);
}

async function passDoor(attempt: Attempt, door: Door): Promise<ToolOutcome> {
  const startedAt = performance.now();
  const { name, input } = attempt.call;
  const offered = door.tools.find((one) => one.name === name);
  const tool = offered?.now?.() ?? offered;
  const isBlocked = tool === undefined || !door.allowed.allows(name, input);
  const show = isBlocked ? () => undefined : stepOf(attempt.call, tool, door);
  show('waiting');
  const answer = isBlocked
    ? rendered(notAllowed(name, door.tools, door.allowed))
    : await answerCall(attempt, tool, door);
  show(answer.envelope.apart === true ? 'apart' : answer.envelope.ok ? 'done' : 'failed');
  const durationMs = Math.round(performance.now() - startedAt);
  // A call that was queued is recorded where it ran.
  if (attempt.finishesItem === undefined)
    await recordCall({ ...attempt, tool, envelope: answer.envelope, isBlocked, durationMs }, door);
  return toOutcome(answer, attempt, { tool, redact: door.redact });
}

async function answerCall(attempt: Attempt, tool: Tool, door: Door): Promise<Rendered> {
  const { log, redact, running } = door;
  try {
    return rendered(await takeSteps(attempt, tool, door));
  } catch (thrown) {
    if (attempt.unjournalled === true) throw thrown;
    const error = readableError(thrown);
    if (isShutdown(error)) {
      // A command that still runs may have made this call through `skillet-cap`.
      for (const one of running) one.cutOff = error;
      throw error;
    }
    if (attempt.signal.aborted) return rendered(cancelled);
    // While the store is away, the outcome of the call is unknown.
    if (storeFault(error) !== undefined) throw error;
    log.warn({ tool: tool.name, call: attempt.call.id, error: reasonOf(error, redact) }, 'a tool failed');
    return rendered(fail('TOOL_FAILED', `${tool.name} failed: ${toldOf(error, redact)}`));
  }
}

async function takeSteps(attempt: Attempt, tool: Tool, door: Door): Promise<Envelope> {
  const { call, signal } = attempt;
  if (signal.aborted) return cancelled;
  const problem = checkInput(call, tool);
  if (problem !== undefined) return fail('ARGUMENTS_INVALID', problem);
  const of = { requester: door.requester, toolUseId: call.id, signal };
  const assessment: CallAssessment = (await tool.assess?.(call.input, of)) ?? {};
  if (signal.aborted) return cancelled;
  if (assessment.refused !== undefined) return assessment.refused;
  const refusal = await judgeCall(attempt, { tool, assessment }, door);
  if (signal.aborted) return cancelled;
  if (refusal !== undefined) return refusal;
  const settings = await door.settings(tool);
  await attempt.begin().catch((error: unknown) => {
    attempt.unjournalled = true;
    throw error;
  });
  return runTool(attempt, { tool, assessment, settings }, door);
}

type Assessment = Exclude<CallAssessment, { refused: Envelope }>;

/** Asks policy and people. Returns the answer to the model if the call is refused; undefined if it may run. */
export async function judgeCall(
  attempt: Attempt,
  { tool, assessment }: Readonly<{ tool: Tool; assessment: Assessment }>,
  { decide, requester, redact, log }: Door,
): Promise<Envelope | undefined> {
  const { id, input } = attempt.call;
  const { mustConfirm, taint, account, outward, risk = riskOf(tool) } = assessment;
  const fields = { tool: tool.name, call: id, risk: (attempt.risk = risk) };
  const refuse = (code: 'TOOL_POLICY_DENIED' | 'TOOL_CONFIRMATION_REQUIRED', message: string): Envelope => {
    attempt.policy = code;
    return mustConfirm === undefined
      ? fail(code, message)
      : fail(mustConfirm.refusedAs, `${code}: ${message}`);
  };
  try {
    const { shown, byApprover, because = assessment.because } = mustConfirm ?? {};
    const judged = { id, tool, input, risk, shown, byApprover, because, outward, taint, account, requester };
    const decision = await decide(judged, attempt.signal);
    if (decision.allowed) {
      attempt.approvedBy = 'approvedBy' in decision ? decision.approvedBy : undefined;
      attempt.policy = attempt.approvedBy === undefined ? 'allowed' : 'approved';
      return undefined;
    }
    if ('instead' in decision) {
      attempt.policy = 'unanswered';
      return decision.instead;
    }
    const { code, reason, hint } = decision;
    log.info({ ...fields, code, reason }, 'policy refused a tool call');
    return refuse(code, hint ?? `the host's policy does not allow this call of ${tool.name}`);
  } catch (error) {
    // The call did not run, and is judged again when its turn is retried.
    if (isShutdown(error) || storeFault(error) !== undefined) throw error;
    if (!attempt.signal.aborted)
      log.error({ ...fields, error: reasonOf(error, redact) }, 'policy failed, so it denies');
    const message = `${tool.name} could not be judged by the host's policy and was not run`;
    return refuse('TOOL_POLICY_DENIED', message);
  }
}

export async function runTool(
  attempt: Attempt,
  { tool, assessment, settings }: Readonly<{ tool: Tool; assessment: Assessment; settings: SettingValues }>,
  door: Door,
): Promise<Envelope> {
  const { call, signal } = attempt;
  const { requester, turn, run, redact, onProgress, running } = door;
  onProgress(doingOf(tool, requester.language));
  stepOf(call, tool, door)('working');
  running.add(attempt);
  // A command that made this call learns its answer, so it is tainted, too (C4).
  const addTaint = (as: Taint): void => running.forEach((one) => (one.taint = joinTaint(one.taint, as)));
  if (assessment.taint !== undefined) addTaint(assessment.taint);
  try {
    const context: ToolContext = {
      requester,
      toolUseId: call.id,
      turn,
      run,
      signal,
      agreed: assessment.mustConfirm?.shown,
      settings,
      progress: (line) => onProgress(oneLine(redact(line), 200)),
      step: door.onStep,
      settle: (item) => (attempt.finishesItem = item),
      awaitAnswer: (question) => (attempt.question = question),
      waits: (work) => waitInCall(work, attempt.begin, door.waiting),
      addTaint,
      spend: (steps) => (attempt.steps = (attempt.steps ?? 0) + steps),
      ...deliveryOf(attempt, door),
    };
    const work = (): Promise<Envelope> => tool.run(call.input, context);
    const envelope = await (tool.within?.(work) ?? work());
    if (attempt.cutOff !== undefined) throw attempt.cutOff;
    return envelope;
  } finally {
    running.delete(attempt);
  }
}

function deliveryOf(
  { call, artifacts: delivered }: Attempt,
  { requester, turn, deliverArtifacts }: Door,
): Pick<ToolContext, 'artifact' | 'artifacts'> {
  let index = 0;
  const artifacts: ToolContext['artifacts'] = async (files) => {
    const of = { requester, turn, call: call.id, index };
    index += files.length;
    const outcomes = await deliverArtifacts(files, of);
    for (const one of outcomes)
      if (one.ok) delivered.push({ name: one.name, mime: one.mime, size: one.size });
    return outcomes;
  };
  return {
    artifacts,
    artifact: async (file) =>
      (await artifacts([file]))[0] ?? Promise.reject(new Error('a file was handed over without an outcome')),
  };
}

/** Redacts before it cuts, because half a secret would not be found. */
export function toOutcome(
  { envelope, text }: Rendered,
  { artifacts, finishesItem, question, taint, steps }: Attempt,
  { tool, redact }: Readonly<{ tool: Tool | undefined; redact: (text: string) => string }>,
): ToolOutcome {
  const clean = tool?.labelsOutput === true ? redact(text) : escapeLabels(redact(text));
  const { errors } = envelope;
  const isCancelled = errors.length > 0 && errors.every(({ code }) => code === 'CANCELLED');
  return {
    content: withDelivered(clean, artifacts, tool?.outputLimit ?? outputLimit),
    isError: !envelope.ok && !isCancelled,
    finishesItem,
    question,
    activeSkill: envelope.activeSkill,
    artifacts: artifacts.length === 0 ? undefined : artifacts,
    taint,
    steps,
  };
}

type Rendered = Readonly<{ envelope: Envelope; text: string }>;

/** Call inside the `try`: an invalid envelope is the tool's fault. */
function rendered(envelope: Envelope): Rendered {
  return { envelope, text: renderEnvelope(envelope) };
}
