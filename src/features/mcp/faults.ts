import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { z } from 'zod';

/** How a call failed. See `Called`. */
export type Fault = Readonly<{ kind: 'refused' | 'unreached' | 'lost'; message: string }>;

const malformed: readonly string[] = [SdkErrorCode.InvalidResult, SdkErrorCode.UnsupportedResultType];

/** What is known of a call without an answer. `lose` ends the connection, unless the answer only was malformed. */
export function callFault(error: unknown, lose: (why: string) => void): Fault {
  const message = messageOf(error);
  if (isMalformed(error)) return { kind: 'lost', message };
  lose(message);
  const turnedAway = error instanceof SdkHttpError && isTurnedAway(error.status);
  return { kind: turnedAway || isUnreached(error) ? 'unreached' : 'lost', message };
}

/** Whether the server sent an answer that its protocol does not allow. */
export function isMalformed(error: unknown): boolean {
  return error instanceof z.ZodError || (error instanceof SdkError && malformed.includes(error.code));
}

/** Whether the server turned the call away without doing it, as it does for a session that it no longer knows. */
function isTurnedAway(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500;
}

function isUnreached(error: unknown): boolean {
  const cause = causeOf(error);
  const code: unknown = cause instanceof Error ? Reflect.get(Object(cause.cause), 'code') : undefined;
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN';
}

/** The error that the SDK wrapped, if it did. */
export function causeOf(error: unknown): unknown {
  const wrapped: unknown = error instanceof SdkError ? Reflect.get(Object(error.data), 'cause') : undefined;
  return wrapped ?? error;
}

/** What an error says, in words for operators. */
export function messageOf(error: unknown): string {
  // The body of such an answer says nothing more.
  if (error instanceof SdkHttpError && (error.status === 401 || error.status === 403))
    return `it refuses the sign-in (HTTP ${error.status}): set its token in headers of this server`;
  const message = error instanceof Error ? error.message : String(error);
  const wrapped = causeOf(error);
  const cause: unknown = wrapped instanceof Error ? wrapped.cause : undefined;
  if (cause instanceof Error && cause.message !== '') return `${message} (${cause.message})`;
  const body: unknown = error instanceof SdkHttpError ? error.data.text : undefined;
  return typeof body === 'string' && body !== '' && !message.includes(body) ? `${message}: ${body}` : message;
}
