import assert from 'node:assert/strict';
import { SendError } from '../../src/core/errors.ts';

/** What a call of a channel rejects with, which must be a SendError. */
export async function sendFailure(call: Promise<unknown>): Promise<SendError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof SendError, String(error));
  return error;
}
