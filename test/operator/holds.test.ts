import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typedOperate } from '../../src/operator/operations.ts';
import { operateHere } from '../support/operate-here.ts';

test('L18 Q12 nobody under a hold is forgotten, nor who spoke in a place under one; the wish is noted, and the end of the hold tells it', async (t) => {
  const { operate: untyped, store } = await operateHere(t, false);
  const operate = typedOperate(untyped);
  const ann = 'telegram:42';
  const said = { kind: 'user', item: 'x', sender: ann, content: 'hello', at: 1 } as const;
  await store.commit({ entries: [{ transcript: 'telegram:-100', entry: said }] });
  for (const held of [ann, 'telegram:-100']) {
    await operate('hold add', { id: held, reason: 'case 17' });
    await assert.rejects(operate('hold add', { id: held }), /under a hold already/);
    await assert.rejects(operate('forget', ann), /Nothing of telegram:42 was removed: a legal hold keeps it/);
    assert.equal((await store.transcripts.read('telegram:-100')).entries.length, 1);
    assert.equal((await store.inbox.list('waiting')).length, 1);
    assert.deepEqual(
      (await operate('hold list')).map(({ id, waiting }) => [id, waiting]),
      [[held, [ann]]],
    );
    assert.deepEqual(await operate('hold remove', { id: held }), { removed: held, waiting: [ann] });
  }
  const { forgotten } = await operate('forget', ann);
  assert.equal(forgotten, ann);
  assert.equal((await store.transcripts.read('telegram:-100')).entries.length, 0);
});
