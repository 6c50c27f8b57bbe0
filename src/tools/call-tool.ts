import type { Decision } from '../access/decide-message.ts';
import { fail, renderEnvelope, type Envelope } from '../core/envelope.ts';
import {
  withDelivered,
  type Artifact,
  type DeliveredFile,
  type DeliveredArtifacts,
  type DeliverArtifacts,
  type Requester,
  type Risk,
  type Tool,
} from '../core/tool.ts';
import { escapeLabels } from '../lib/text/escape-labels.ts';
import type { Log } from '../lib/log.ts';
import { isShutdown } from '../lib/async/shutdown.ts';
import { oneLine } from '../lib/text/text.ts';
import { joinTaint, type Taint } from '../core/taint.ts';
import type { CallTool, ToolCall, AuditedCall } from '../core/tool-call.ts';
import type { SettingValues } from '../core/tool-settings.ts';
import { isUnparsed } from '../core/entry.ts';
import { doingOf } from './tool-title.ts';
import type { AllowedTools } from './allowed-tools.ts';
import { storeFault } from '../store/store-fault.ts';
import { notAllowed } from './tool-restriction.ts';
import { readableError, reasonOf, toldOf, createRecordCall, inputLimit, jsonOf } from './record-call.ts';
import { riskOf } from './policy.ts';

/** What policy judges: a call whose tool is allowed and whose input is valid (T8). */
export type JudgedCall = Readonly<{
  id: string;
  tool: Tool;
  input: unknown;
  risk: Risk;
  /** A person has to agree to this very call, and sees this. */
  shown?: unknown;
  /** See `CallAssessment`. */
  marks?: Taint | undefined;
  outward?: boolean;
  requester: Requester;
}>;

/** Host policy. `reason` goes to the log, `hint` to the model; `instead` is answered in place of the call. A throw is a deny (T8). */
export type DecideCall = (
  call: JudgedCall,
  signal: AbortSignal,
) => Promise<
  | Decision<'TOOL_POLICY_DENIED' | 'TOOL_CONFIRMATION_REQUIRED'>
  | Readonly<{ allowed: true; approvedBy: string }>
  | Readonly<{ allowed: false; instead: Envelope }>
>;

/** Characters the model gets (M3). */
const outputLimit = 30_000;

/**
 * The one door for effects: ceiling → validation → terms → policy → approval → journal → run → redaction → cut → audit. The ceiling
 * is judged here for each call, whatever the model was shown (T5). A tool's fault is TOOL_FAILED without a stack, a cancelled call is
 * CANCELLED and no error (T11). Rejects when the process ends first: the call has no outcome then (Q13).
 */
export function createCallTool(options: {
  tools: readonly Tool[];
  ceiling: Pick<AllowedTools, 'names' | 'commands' | 'allows'>;
  decide: DecideCall;
  requester: Requester;
  /** Takes secrets out of text (U3). */
  redact: (text: string) => string;
  log: Log;
  /** Gets one redacted line of what a tool is doing (T12, U13). */
  onProgress: (text: string) => void;
  /** What the calls are made for, and the run they are made in: see `ToolContext`. */
  turn: string;
  run?: Readonly<{ id: string; skill: string }>;
  /** What is set of a tool for this requester's chat (X3). */
  settings: (tool: Tool) => Promise<SettingValues> | SettingValues;
  deliverArtifacts: DeliverArtifacts;
  audit: (call: AuditedCall) => Promise<void> | void;
}): CallTool {
  const {
    ceiling,
    decide,
    requester,
    redact,
    log,
    onProgress,
    turn,
    run,
    settings,
    deliverArtifacts,
    audit,
  } = options;
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  const underway = new Set<Made>();
  const record = createRecordCall({ requester, redact, log, audit });

  return async (call, signal, begin = async () => undefined) => {
    const began = performance.now();
    const made: Made = { begin, artifacts: [] };
    const tool = tools.get(call.name);
    const blocked = tool === undefined || !ceiling.allows(call.name, call.input);
    const { envelope, text } = blocked
      ? rendered(notAllowed(call.name, tools, ceiling))
      : await attempt(call, tool, signal, made);
    const durationMs = Math.round(performance.now() - began);
    // What another lane's call came to was recorded there.
    if (made.settles === undefined) await record(call, { ...made, tool, envelope, blocked, durationMs });
    return {
      content: withDelivered(
        tool?.labelsOutput === true ? redact(text) : escapeLabels(redact(text)),
        made.artifacts,
        tool?.outputLimit ?? outputLimit,
      ),
      isError: !envelope.ok && !isCancelled(envelope),
      settles: made.settles,
      asks: made.asks,
      follows: envelope.follows,
      artifacts: made.artifacts.length === 0 ? undefined : made.artifacts,
      marks: made.marks,
    };
  };

  async function attempt(call: ToolCall, tool: Tool, signal: AbortSignal, made: Made): Promise<Rendered> {
    try {
      return rendered(await pass(call, tool, signal, made));
    } catch (thrown) {
      if (made.unjournalled === true) throw thrown;
      const error = readableError(thrown);
      if (isShutdown(error)) {
        // A command under way may have made this call: it ends without what it asked for.
        for (const one of underway) one.cutOff = error;
        throw error;
      }
      if (signal.aborted) return rendered(cancelled);
      // What the tool did may be in the store, or go on from there: no outcome could be told of it.
      if (storeFault(error) !== undefined) throw error;
      log.warn({ tool: tool.name, call: call.id, error: reasonOf(error, redact) }, 'a tool failed');
      return rendered(fail('TOOL_FAILED', `${tool.name} failed: ${toldOf(error, redact)}`));
    }
  }

  async function pass(call: ToolCall, tool: Tool, signal: AbortSignal, made: Made): Promise<Envelope> {
    if (signal.aborted) return cancelled;
    const problem = isUnparsed(call.input) ? noJson : problemOf(call, tool);
    if (problem !== undefined) return fail('ARGUMENTS_INVALID', problem);
    const terms = await tool.terms?.(call.input, { requester, toolUseId: call.id, signal });
    if (signal.aborted) return cancelled;
    if (terms?.refused !== undefined) return terms.refused;
    made.risk = terms?.risk ?? riskOf(tool);
    const { asks, marks, outward } = terms ?? {};
    const denial = await judge(
      {
        id: call.id,
        tool,
        input: call.input,
        risk: made.risk,
        shown: asks?.shown,
        outward,
        marks,
        requester,
      },
      signal,
      made,
    );
    if (signal.aborted) return cancelled;
    if (denial !== undefined && asks !== undefined && made.policy !== 'unanswered')
      return fail(asks.refusedAs, denial.errors.map(({ code, message }) => `${code}: ${message}`).join('; '));
    if (denial !== undefined) return denial;
    const set = await settings(tool);
    made.unjournalled = true;
    await made.begin();
    made.unjournalled = false;
    let handed = 0;
    const artifacts = async (files: readonly Artifact[]): Promise<readonly DeliveredArtifacts[]> => {
      const of = { requester, turn, call: call.id, index: handed };
      handed += files.length;
      const outcomes = await deliverArtifacts(files, of);
      for (const outcome of outcomes)
        if (outcome.ok) made.artifacts.push({ name: outcome.name, mime: outcome.mime, size: outcome.size });
      return outcomes;
    };
    const artifact = async (file: Artifact): Promise<DeliveredArtifacts> =>
      (await artifacts([file]))[0] ?? Promise.reject(new Error('a file was handed over without an outcome'));
    onProgress(doingOf(tool, requester.language));
    underway.add(made);
    // A command under way may have made this call, and learn what it gives (C4).
    const mark = (as: Taint): void => underway.forEach((one) => (one.marks = joinTaint(one.marks, as)));
    if (marks !== undefined) mark(marks);
    try {
      const envelope = await tool.run(call.input, {
        requester,
        toolUseId: call.id,
        turn,
        run,
        signal,
        agreed: asks?.shown,
        settings: set,
        progress: (line) => onProgress(oneLine(redact(line), 200)),
        settle: (item) => (made.settles = item),
        awaitAnswer: (question) => (made.asks = question),
        mark,
        artifact,
        artifacts,
      });
      if (made.cutOff !== undefined) throw made.cutOff;
      return envelope;
    } finally {
      underway.delete(made);
    }
  }

  async function judge(call: JudgedCall, signal: AbortSignal, made: Made): Promise<Envelope | undefined> {
    const fields = { tool: call.tool.name, call: call.id, risk: call.risk };
    try {
      const decision = await decide(call, signal);
      if (decision.allowed) {
        made.policy = 'allowed';
        if ('approvedBy' in decision) {
          made.policy = 'approved';
          made.approvedBy = decision.approvedBy;
        }
        return undefined;
      }
      if ('instead' in decision) {
        made.policy = 'unanswered';
        return decision.instead;
      }
      made.policy = decision.code;
      log.info({ ...fields, code: decision.code, reason: decision.reason }, 'policy refused a tool call');
      return fail(
        decision.code,
        decision.hint ?? `the host's policy does not allow this call of ${call.tool.name}`,
      );
    } catch (error) {
      if (isShutdown(error)) throw error;
      if (!signal.aborted)
        log.error({ ...fields, error: reasonOf(error, redact) }, 'policy failed, so it denies');
      made.policy = 'TOOL_POLICY_DENIED';
      return fail(
        'TOOL_POLICY_DENIED',
        `${call.tool.name} could not be judged by the host's policy and was not run`,
      );
    }
  }
}

const noJson =
  'the arguments were no valid JSON object. Nothing was done. Call again, with one valid JSON object.';

/** What is known of one call while it is made. */
type Made = {
  readonly begin: () => Promise<void>;
  /** Its start is being stored: what goes wrong then is no fault of the tool. */
  unjournalled?: boolean;
  /** The shutdown that ended a call made from within this one. */
  cutOff?: Error;
  settles?: string;
  asks?: string;
  marks?: Taint | undefined;
  policy?: string;
  approvedBy?: string;
  risk?: Risk;
  readonly artifacts: DeliveredFile[];
};

/** Rendered inside the guard, so that an answer that is no envelope counts as the tool's fault. */
type Rendered = Readonly<{ envelope: Envelope; text: string }>;

function rendered(envelope: Envelope): Rendered {
  return { envelope, text: renderEnvelope(envelope) };
}

const cancelled = fail('CANCELLED', 'the call was stopped before it ended');

function isCancelled({ errors }: Envelope): boolean {
  return errors.length > 0 && errors.every(({ code }) => code === 'CANCELLED');
}

/** Size first: what is too large is not looked into. */
function problemOf({ input }: ToolCall, tool: Tool): string | undefined {
  const size = Buffer.byteLength(jsonOf(input));
  return size > inputLimit
    ? `the input of ${tool.name} has ${size} bytes and at most ${inputLimit} are taken: send less, or in parts`
    : tool.check(input);
}
