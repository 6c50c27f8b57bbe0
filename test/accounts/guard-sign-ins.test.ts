import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGuardSignIns } from '../../src/accounts/guard-sign-ins.ts';
import { partOf } from '../support/app-of.ts';
import { caller, capabilityStage } from '../support/capability-stage.ts';
import { makeMessage } from '../support/make-message.ts';

test('C6 what a message quotes of a sign-in is taken out, whoever quotes it, and nothing is done with it', async (t) => {
  const stage = await capabilityStage(t);
  const { clean } = createGuardSignIns({
    take: (message) => stage.say(message.text, message),
    channels: new Map(),
    replies: partOf({ answer: () => assert.fail('nothing is said') }),
    audit: { record: () => assert.fail('nothing is recorded') },
    log: stage.log,
  });
  const begun = await stage.flows.begin(
    caller(),
    { capability: 'test.secret', hint: 'work', call: 'c' },
    stage.signal,
  );
  assert.ok(begun.ok);
  const quoting = async (sender: string, text: string, by?: string) => {
    const replyTo = { name: 'Ann', own: false, text, ...(by === undefined ? {} : { sender: by }) };
    const message = makeMessage({ sender: { id: sender, name: 'X', kind: 'person' }, replyTo });
    return (await clean(message)).replyTo?.text;
  };
  const out = '(the answer of a sign-in page, taken out)';
  const callback = 'https://back.example/?code=good&state=state-work';
  const [ann, bob] = ['telegram:42', 'telegram:7'];
  assert.equal(await quoting(ann, callback), out);
  assert.equal(await quoting(bob, callback), out, 'known by its state');
  assert.equal(await quoting(bob, '4/0AX4XfWhAbC', ann), out, 'known by who said it');
  assert.equal(await quoting(ann, 'see you at 8', bob), 'see you at 8');
  const [flow] = await stage.records.flows(ann);
  assert.equal(flow?.state, 'pending');
});
