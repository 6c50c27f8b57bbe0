import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerByCode } from '../../../src/features/capabilities/answer-by-code.ts';
import { partOf } from '../../support/app-of.ts';
import { makeMessage } from '../../support/make-message.ts';

test('T8 C6 a typed yes or no with its code confirms or denies an account; always does neither', async () => {
  const confirmed: string[] = [];
  const told: string[] = [];
  const answer = (text: string, kind: 'taken' | 'refused' | 'unknown') =>
    answerByCode(
      makeMessage({ text }),
      partOf({
        async answer(code, _from, yes) {
          confirmed.push(`${code} ${yes}`);
          return kind === 'refused' ? { kind, text: 'Not yours.' } : { kind };
        },
      }),
      partOf({ answer: async (_message, markdown) => void told.push(markdown) }),
    );
  assert.equal(await answer('always ABCDEFG0', 'taken'), false);
  assert.equal(await answer('yes', 'taken'), false);
  assert.equal(await answer('yes ABCDEFG0', 'taken'), true);
  assert.equal(await answer('no ABCDEFG0', 'refused'), true);
  assert.equal(await answer('yes ABCDEFG1', 'unknown'), false);
  assert.deepEqual(confirmed, ['ABCDEFG0 true', 'ABCDEFG0 false', 'ABCDEFG1 true']);
  assert.deepEqual(told, ['Not yours.']);
});
