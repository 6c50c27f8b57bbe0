import { isUnparsed } from '../core/entry.ts';
import type { Envelope } from '../core/envelope.ts';
import type { AuditedCall, BeginCall, ToolCall } from '../core/tool-call.ts';
import type { Requester, Risk, Tool, ToolContext } from '../core/tool.ts';
import type { Log } from '../lib/log.ts';
import { oneLine, truncate } from '../lib/text/text.ts';
import { riskOf } from './policy.ts';

type EndedCall = Readonly<{
  call: ToolCall;
  /** Undefined: there is no tool of that name. */
  tool: Tool | undefined;
  envelope: Envelope;
  isBlocked: boolean;
  durationMs: number;
  risk?: Risk;
  policy?: string;
  approvedBy?: string;
}>;

/** How many bytes of JSON an input may have (M3). */
const inputLimit = 200_000;

/** Writes a call to the audit. If that fails, the error is only logged. */
export async function recordCall(
  { call, tool, envelope, isBlocked, durationMs, risk, policy, approvedBy }: EndedCall,
  deps: Readonly<{
    requester: Requester;
    redact: (text: string) => string;
    audit: (call: AuditedCall) => Promise<void> | void;
    log: Log;
  }>,
): Promise<void> {
  const { requester, redact, log, audit } = deps;
  const event = isBlocked ? 'tool_call_blocked' : 'tool_call';
  const name = oneLine(redact(call.name), 100);
  if (isBlocked)
    log.warn({ event, tool: name, call: call.id, sender: requester.sender }, 'a tool call was out of bounds');
  try {
    await audit({
      event,
      id: call.id,
      tool: name,
      requester,
      input: redact(jsonOf(call.input)).slice(0, inputLimit),
      risk: tool === undefined ? undefined : (risk ?? riskOf(tool)),
      policy,
      approvedBy,
      ok: envelope.ok,
      codes: envelope.errors.map(({ code }) => code),
      durationMs,
    });
  } catch (error) {
    log.error(
      { tool: name, call: call.id, error: reasonOf(error, redact) },
      'a tool call could not be audited',
    );
  }
}

function jsonOf(input: unknown): string {
  return input === undefined ? '' : JSON.stringify(input);
}

/** Returns an error whose words can be read: plugins may throw objects whose getters throw. */
export function readableError(thrown: unknown): unknown {
  try {
    for (let one = thrown; one instanceof Error; one = one.cause)
      void [wordsOf(one), hostPaths(one), 'code' in one];
    return String(thrown) === '' ? new Error('it threw an empty value') : thrown;
  } catch {
    return new Error('it threw something that cannot be read');
  }
}

/** An error's message for the log, redacted first and cut last, because half a secret would not be found. */
export function reasonOf(error: unknown, redact: (text: string) => string): string {
  const message = wordsOf(error);
  const lines = message.split('\n').filter((line) => !/^\s+at .+/.test(line));
  return truncate(redact(lines.join('\n').trim()), 2_000).text;
}

/** An error's message for a model, without paths of this host. */
export function toldOf(error: unknown, redact: (text: string) => string): string {
  return hostPaths(error).reduce((text, file) => text.replaceAll(file, '…'), reasonOf(error, redact));
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

function hostPaths(error: unknown): readonly string[] {
  if (!(error instanceof Error && 'syscall' in error)) return [];
  const paths = ['path', 'dest'].map((field): unknown => Reflect.get(error, field));
  return paths.filter((file) => typeof file === 'string' && file !== '') as string[];
}

/** Says what is wrong, or nothing. The size comes first, so that an input that is too large is not parsed. */
export function checkInput({ input }: ToolCall, tool: Tool): string | undefined {
  if (isUnparsed(input))
    return 'the arguments were no valid JSON object. Nothing was done. Call again, with one valid JSON object.';
  const size = Buffer.byteLength(jsonOf(input));
  return size > inputLimit
    ? `the input of ${tool.name} has ${size} bytes and at most ${inputLimit} are taken: send less, or in parts`
    : tool.check(input);
}

/**
 * Waits for a person in the middle of a call, with notes in its journal before and after. If `work` fails, as at a
 * shutdown, the call counts as waiting. `around` lets the caller pause what should not run out meanwhile.
 */
export async function waitInCall<Answer>(
  work: () => Promise<Answer>,
  begin: BeginCall,
  around: ToolContext['waits'] = (wait) => wait(),
): Promise<Answer> {
  await begin(true);
  const answer = await around(work);
  await begin();
  return answer;
}
