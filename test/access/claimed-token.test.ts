import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimedToken } from '../../src/access/pairing.ts';
import { parseCommand } from '../../src/core/message.ts';

const token = '0123456789abcdef0123456789abcdef';

function tokenIn(text: string): string | undefined {
  const command = parseCommand(text);
  return claimedToken({ text, ...(command === undefined ? {} : { command }) });
}

test('A10 a claim is read however it is written, and nothing else is one', () => {
  const claims = [
    `/start claim_${token}`,
    `/start@test_bot claim_${token}`,
    `/skill start claim_${token}`,
    `/skill /start claim_${token}`,
    `!start claim_${token}`,
    ` Start claim_${token}\n`,
  ];
  for (const text of claims) assert.equal(tokenIn(text), token, text);
  const others = [
    `/start claim_${token.slice(1)}`,
    `/start claim_${token}0`,
    `/lookup start claim_${token}`,
    `please start claim_${token}`,
    `start claim_${token} now`,
    '/start',
  ];
  for (const text of others) assert.equal(tokenIn(text), undefined, text);
});
