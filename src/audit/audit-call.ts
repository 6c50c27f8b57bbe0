import { createHash } from 'node:crypto';
import { conversationKey } from '../core/conversation.ts';
import type { Requester } from '../core/tool.ts';
import type { AuditedCall } from '../core/tool-call.ts';
import type { AuditEvent, AuditPlace } from './audit-event.ts';

/** Where and for whom, as the audit has it. */
export function placeOf({ sender, conversation, chatType }: Requester): AuditPlace {
  return { sender, conversation: conversationKey(conversation), chatType };
}

/** A tool call as the audit has it: of its arguments a hash, or with `whole` what is left of them after redaction (L6). */
export function auditOfCall(
  { id, input, requester, ...call }: AuditedCall,
  of: Readonly<{ skill?: string; run?: string }>,
  whole: boolean,
): AuditEvent {
  return {
    ...call,
    call: id,
    ...placeOf(requester),
    ...of,
    ...(whole ? { arguments: input } : { argumentsHash: createHash('sha256').update(input).digest('hex') }),
  };
}
