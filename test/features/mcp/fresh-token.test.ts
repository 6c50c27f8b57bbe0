import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FoundAccount, ServerAccount } from '../../../src/features/mcp/accounts/account-book.ts';
import { createFreshToken } from '../../../src/features/mcp/accounts/fresh-token.ts';
import { partOf } from '../../support/app-of.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { quietLog } from '../../support/quiet-log.ts';

test('X8 a token goes to the address that it was issued for, whoever asks; one that lapsed goes nowhere', async () => {
  const state = { lapsed: false };
  const url = 'https://work.example/mcp';
  const account = () => partOf<ServerAccount>({ url, tokens: { access: 'token-1' }, ...state });
  const freshToken = createFreshToken({
    book: partOf({ find: async (of) => partOf<FoundAccount>({ ...of, account: account() }) }),
    fetchFor: () => assert.fail('nobody is asked for a new token'),
    clock: createManualClock(),
    log: quietLog(),
  });
  const of = { subject: 'telegram:42', server: 'work' };
  assert.deepEqual(await freshToken({ ...of, url }), { kind: 'token', token: 'token-1' });
  assert.deepEqual(await freshToken({ ...of, url: 'https://other.example/mcp' }), { kind: 'none' });
  state.lapsed = true;
  assert.deepEqual(await freshToken({ ...of, url }), { kind: 'lapsed' });
});
