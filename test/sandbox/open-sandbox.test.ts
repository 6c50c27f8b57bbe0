import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { openSandbox } from '../../src/sandbox/open-sandbox.ts';

test('T9 auto opens the best sandbox there is, and no mode is taken for another', async () => {
  for (const mode of ['auto', 'virtual'] as const) {
    const sandbox = openSandbox(mode);
    assert.equal(sandbox.mode, 'virtual');
    await sandbox.close();
  }
  for (const mode of ['bubblewrap', 'docker', 'off'] as const) {
    assert.throws(
      () => openSandbox(mode),
      (error) => error instanceof OperatorError && /"auto" or "virtual"/.test(error.message),
    );
  }
});
