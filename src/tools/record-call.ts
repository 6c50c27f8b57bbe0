import type { Envelope } from '../core/envelope.ts';
import type { AuditedCall, ToolCall } from '../core/tool-call.ts';
import type { Requester, Risk, Tool } from '../core/tool.ts';
import type { Log } from '../lib/log.ts';
import { oneLine, truncate } from '../lib/text/text.ts';
import { riskOf } from './policy.ts';

/** How a call ended. */
type Ended = Readonly<{
  tool: Tool | undefined;
  envelope: Envelope;
  blocked: boolean;
  durationMs: number;
  /** Judged of this very call. */
  risk?: Risk;
  policy?: string;
  approvedBy?: string;
}>;

/** Bytes of JSON (M3). */
export const inputLimit = 200_000;

/** Tells the audit of a call, and the log of one that was out of bounds. A fault of the audit is told in the log, and is none of the call. */
export function createRecordCall(options: {
  requester: Requester;
  redact: (text: string) => string;
  log: Log;
  audit: (call: AuditedCall) => Promise<void> | void;
}) {
  const { requester, redact, log, audit } = options;

  return async (
    { id, name: asked, input }: ToolCall,
    { tool, envelope, blocked, durationMs, risk, policy, approvedBy }: Ended,
  ): Promise<void> => {
    const event = blocked ? 'tool_call_blocked' : 'tool_call';
    const name = oneLine(redact(asked), 100);
    if (blocked)
      log.warn({ event, tool: name, call: id, sender: requester.sender }, 'a tool call was out of bounds');
    try {
      await audit({
        event,
        id,
        tool: name,
        requester,
        input: redact(jsonOf(input)).slice(0, inputLimit),
        risk: tool === undefined ? undefined : (risk ?? riskOf(tool)),
        policy,
        approvedBy,
        ok: envelope.ok,
        codes: envelope.errors.map(({ code }) => code),
        durationMs,
      });
    } catch (error) {
      log.error({ tool: name, call: id, error: reasonOf(error, redact) }, 'a tool call could not be audited');
    }
  };
}

/** An input as it is measured and recorded. */
export function jsonOf(input: unknown): string {
  return input === undefined ? '' : JSON.stringify(input);
}

/** The thrown value; or, since a plugin may throw a value whose getters throw, an error that says it cannot be read. */
export function readableError(thrown: unknown): unknown {
  try {
    for (let one = thrown; one instanceof Error; one = one.cause)
      void [wordsOf(one), hostPaths(one), 'code' in one];
    return String(thrown) === '' ? new Error('it threw an empty value') : thrown;
  } catch {
    return new Error('it threw something that cannot be read');
  }
}

/** What an error says, without its stack and secrets, which are taken out before it is cut. */
export function reasonOf(error: unknown, redact: (text: string) => string): string {
  const message = wordsOf(error);
  const lines = message.split('\n').filter((line) => !/^\s+at .+/.test(line));
  return truncate(redact(lines.join('\n').trim()), 2_000).text;
}

/** The same for a model: where a file is on the host is no business of it. */
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
