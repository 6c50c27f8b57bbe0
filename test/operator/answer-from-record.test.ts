import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '../../src/core/entry.ts';
import { answerFromRecord, notInRecord } from '../../src/operator/rehearse/answer-from-record.ts';

const never = new AbortController().signal;

/** A call of the record and its result. */
function called(id: string, name: string, input: object, content: string): readonly Entry[] {
  return [
    { kind: 'assistant', content: [{ type: 'tool_use', id, name, input }] } as unknown as Entry,
    { kind: 'tool_result', toolUseId: id, content, isError: false, at: 1 },
  ];
}

test('L20 a call gets the result of the same call, repeated ones in order; a skill is the same whatever its task; any other call gets none', async () => {
  const record = [
    ...called('a', 'clock', { zone: 'UTC' }, 'ten'),
    ...called('b', 'clock', { zone: 'UTC' }, 'eleven'),
    ...called('c', 'use_skill', { skill: 'dice', message: 'roll' }, 'a six'),
    ...called('d', 'gone', {}, 'of a tool that is not offered'),
  ];
  const calls: string[] = [];
  const call = answerFromRecord(
    record,
    (tool) => tool !== 'gone',
    ({ name, isRecorded }) => calls.push(`${name} ${isRecorded}`),
  );
  const answer = async (name: string, input: object) => (await call({ id: 'x', name, input }, never)).content;
  assert.equal(await answer('clock', { zone: 'UTC' }), 'ten');
  assert.equal(await answer('clock', { zone: 'UTC' }), 'eleven');
  assert.equal(await answer('clock', { zone: 'UTC' }), 'eleven');
  assert.equal(await answer('clock', { zone: 'Asia/Tokyo' }), notInRecord);
  assert.equal(await answer('use_skill', { skill: 'dice', message: 'in other words' }), 'a six');
  assert.equal(await answer('use_skill', { skill: 'payroll', message: 'roll' }), notInRecord);
  assert.equal(await answer('gone', {}), notInRecord);
  assert.deepEqual(calls.slice(3), ['clock false', 'use_skill true', 'use_skill false', 'gone false']);
});
