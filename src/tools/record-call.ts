import type { Envelope } from '../core/envelope.ts';
import type { Log } from '../lib/log.ts';
import { oneLine } from '../lib/text/text.ts';
import type { Requester, Risk, Tool } from '../core/tool.ts';
import type { AuditedCall, ToolCall } from '../core/tool-call.ts';
import { reasonOf } from './reason-of.ts';
import { riskOf } from './risk.ts';

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
        ...(tool === undefined ? {} : { risk: risk ?? riskOf(tool) }),
        ...(policy === undefined ? {} : { policy }),
        ...(approvedBy === undefined ? {} : { approvedBy }),
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
