import assert from 'node:assert/strict';
import { taintAround, taintOf } from '../../src/access/taint-of.ts';
import { cleanStore } from '../../src/bot/redacting-doors.ts';
import { conversationKey } from '../../src/core/conversation.ts';
import type { Entry } from '../../src/core/entry.ts';
import { noTokens } from '../../src/core/model.ts';
import { createRedaction } from '../../src/lib/redaction/redact.ts';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';

const secret = 'hunter2-hunter2';
const shown = '[redacted KEY]';
const redaction = createRedaction([{ name: 'KEY', value: secret }]);

/** What of privacy rests on a store: marks come back as they were stored, and what goes in by the clean door is clean. */
export function privacyContract(storeTest: StoreTest): void {
  storeTest('S7 a transcript, and what a run came to, stay marked as they were stored', async (store) => {
    const conversation = 'telegram:42';
    const run = `${conversation}#run:${'a'.repeat(16)}`;
    const add = (transcript: string, ...entries: readonly Entry[]) =>
      store.commit({ entries: entries.map((entry) => ({ transcript, entry })) });
    await add(conversation, { kind: 'notice', text: 'x', at: 1 });
    assert.equal(await taintOf(store.transcripts, conversation), undefined);
    await add(run, { kind: 'user', content: 'go', taint: 'mail', at: 2 });
    assert.equal(await taintOf(store.transcripts, run), 'mail');
    await add(conversation, {
      kind: 'tool_result',
      toolUseId: 'x',
      content: 'y',
      isError: false,
      taint: true,
      at: 3,
    });
    assert.equal(await taintAround(store.transcripts, run), true);
    await add(run, { kind: 'summary', text: 's', kept: 0, taint: 'mail', tokens: noTokens, at: 4 });
    assert.equal(await taintOf(store.transcripts, run), 'mail');

    const result = { kind: 'result', id: 'r', skill: 'mail', result: 'lunch', taint: 'mail' } as const;
    const message = makeMessage({ id: 'ended', task: result });
    const queue = conversationKey(message.conversation);
    await store.commit({ work: [{ queue, message }] });
    assert.deepEqual((await store.inbox.take(queue, Date.UTC(2100, 0, 1)))?.message.task, result);
  });

  storeTest(
    'S2 what is stored of messages, transcripts, answers and faults holds no secret; ids stay',
    async (plain) => {
      const store = cleanStore(plain, () => redaction);
      const message = makeMessage({ text: `my key is ${secret}`, command: { name: 'x', args: secret } });
      await store.inbox.accept(
        { ...message, replyTo: { name: 'Bob', text: secret, own: false } },
        { now: 1 },
      );
      const queue = (await store.inbox.list('waiting'))[0]?.queue ?? '';
      const item = await store.inbox.take(queue, 2);
      assert.equal(item?.message.id, message.id);
      assert.doesNotMatch(JSON.stringify(item), new RegExp(secret));
      await store.inbox.postpone(message.id, `away ${secret}`, 3);
      assert.equal((await store.inbox.list('waiting'))[0]?.error, `away ${shown}`);
      await store.inbox.fail(message.id, `lost ${secret}`, undefined);
      assert.equal((await store.inbox.list('dead'))[0]?.error, `lost ${shown}`);
      await store.commit({
        entries: [
          { transcript: 'a', entry: { kind: 'user', sender: 'telegram:42', content: secret, at: 1 } },
          {
            transcript: 'a',
            entry: { kind: 'tool_result', toolUseId: 'x', content: secret, isError: false, at: 2 },
          },
          { transcript: 'a', entry: { kind: 'notice', text: secret, at: 3 } },
        ],
        outbox: [
          {
            key: 'k',
            conversation: message.conversation,
            part: { markdown: secret, buttons: [{ label: secret, action: 'x' }] },
          },
        ],
      });
      assert.doesNotMatch(JSON.stringify(await store.transcripts.read('a')), new RegExp(secret));
      const row = await store.outbox.next(queue, Number.MAX_SAFE_INTEGER);
      assert.deepEqual(row?.part, { markdown: shown, buttons: [{ label: shown, action: 'x' }] });
      await store.outbox.retry('k', `slow ${secret}`, 1);
      await store.outbox.dead('k', `refused ${secret}`);
      assert.equal((await store.outbox.givenUp())[0]?.error, `refused ${shown}`);
    },
  );

  storeTest(
    'S2 what is asked of people, overheard and told other processes holds no secret',
    async (plain) => {
      const store = cleanStore(plain, () => redaction);
      const message = makeMessage({ text: `my key is ${secret}` });
      await store.groupContext.add(message, Date.now());
      const key = conversationKey(message.conversation);
      const [heard] = await store.groupContext.recent(key, 5, 0);
      assert.equal(heard?.text, `my key is ${shown}`);
      await store.pendingRequests.add({
        id: 'q',
        kind: 'question',
        conversation: message.conversation,
        requester: message.sender.id,
        transcript: key,
        toolUseId: 'x',
        payload: { run: 'r', skill: 'mail', question: `is it ${secret}?` },
        askedAt: 1,
        expiresAt: Date.UTC(2100, 0, 1),
      });
      await store.pendingRequests.answer('q', { by: message.sender.id, value: `no, ${secret}2`, at: 2 });
      const request = await store.pendingRequests.find('q');
      assert.equal(request?.payload['question'], `is it ${shown}?`);
      assert.equal(request.answer?.value, `no, ${shown}2`);
      const told = Promise.withResolvers<string>();
      const silence = store.signals.on('progress', told.resolve);
      await store.signals.send('progress', `r it is ${secret}`);
      assert.equal(await told.promise, `r it is ${shown}`);
      silence();
    },
  );

  storeTest('S2 names of files, and what runs are begun with and come to, hold no secret', async (plain) => {
    const store = cleanStore(plain, () => redaction);
    const far = Date.UTC(2100, 0, 1);
    const attachments = [{ kind: 'document', name: `${secret}.pdf` }] as const;
    const begun = {
      kind: 'run',
      id: 'r',
      skill: 'mail',
      tool: 'use_skill',
      input: { skill: 'mail', message: [secret] },
      by: 'model',
      parent: 'a',
      toolUseId: 'x',
    } as const;
    const ended = { kind: 'result', id: 'r', skill: 'mail', result: secret } as const;
    const one = makeMessage({ id: 'one', attachments, task: begun });
    const queue = conversationKey(one.conversation);
    await store.commit({
      work: [
        { queue, message: one },
        { queue: 'other', message: makeMessage({ id: 'two', task: ended }) },
      ],
      outbox: [
        {
          key: 'k',
          conversation: one.conversation,
          part: { markdown: '', file: { id: 'f', name: `${secret}.txt`, mime: 'text/plain', size: 1 } },
        },
      ],
    });
    const taken = (await store.inbox.take(queue, far))?.message;
    assert.equal(taken?.attachments[0]?.name, `${shown}.pdf`);
    assert.deepEqual(taken.task, { ...begun, input: { skill: 'mail', message: [shown] } });
    assert.deepEqual((await store.inbox.take('other', far))?.message.task, { ...ended, result: shown });
    assert.equal((await store.outbox.next(queue, far))?.part.file?.name, `${shown}.txt`);
  });
}
