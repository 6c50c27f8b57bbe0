import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanModels, cleanOperate, cleanStore } from '../../src/app/clean-doors.ts';
import { cleanEvent } from '../../src/app/clean-data.ts';
import { createRedaction } from '../../src/core/redact.ts';
import type { ModelRequest } from '../../src/core/model.ts';
import { openStore } from '../../src/stores/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { scriptedModel } from '../support/scripted-model.ts';

const secret = 'hunter2-hunter2';
const shown = '[redacted KEY]';
const redaction = createRedaction([{ name: 'KEY', value: secret }]);
const clean = () => redaction;

const request: ModelRequest = {
  system: [{ type: 'text', text: `be brief ${secret}` }],
  messages: [
    { role: 'user', content: `it is ${secret}` },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'nothing', signature: secret },
        { type: 'thinking', thinking: `it is ${secret}`, signature: 'x' },
        { type: 'tool_use', id: secret, name: 'use_skill', input: { message: secret, data: [secret] } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: secret, content: [{ type: 'text', text: secret }] }],
    },
  ],
  tools: [{ name: 'x', description: secret, input_schema: { type: 'object' } }],
};

test('S2 M5 what a model is asked holds no secret, ids and signatures stay, and the same request is the same bytes', async () => {
  const model = scriptedModel(['one', 'two']);
  const models = cleanModels({ get: () => model, check: () => undefined, offline: false }, clean);
  const { signal } = new AbortController();
  await models.get().complete(request, signal);
  await models.get().complete(request, signal);
  const [first, second] = model.requests;
  assert.deepEqual(first, second);
  assert.deepEqual(first, {
    system: [{ type: 'text', text: `be brief ${shown}` }],
    messages: [
      { role: 'user', content: `it is ${shown}` },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'nothing', signature: secret },
          { type: 'tool_use', id: secret, name: 'use_skill', input: { message: shown, data: [shown] } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: secret, content: [{ type: 'text', text: shown }] }],
      },
    ],
    tools: [{ name: 'x', description: shown, input_schema: { type: 'object' } }],
  });
});

test('S2 U3 what a model answers, and says piece by piece, holds no secret, its tool calls included', async () => {
  const said: string[] = [];
  const model = scriptedModel([]);
  const answers = {
    ...model,
    complete: async (...[, , onText]: Parameters<typeof model.complete>) => {
      for (const piece of `so ${secret}, then`.match(/.{1,3}/g) ?? []) onText?.(piece);
      const [answer] = [
        scriptedModel([{ text: secret, calls: [{ name: 'bash', input: { command: `echo ${secret}` } }] }]),
      ];
      return answer.complete(request, new AbortController().signal);
    },
  };
  const models = cleanModels({ get: () => answers, check: () => undefined, offline: false }, clean);
  const { content } = await models
    .get()
    .complete(request, new AbortController().signal, (text) => said.push(text));
  assert.equal(said.join(''), `so ${shown}, then`);
  assert.equal(said[0], 'so ', 'it came as one');
  assert.doesNotMatch(JSON.stringify(content), new RegExp(secret));
  assert.match(JSON.stringify(content), /echo \[redacted KEY\]/);
});

test('S2 what is stored of messages, transcripts, answers and faults holds no secret; ids stay', async (t) => {
  const store = cleanStore(await openStore('sqlite::memory:'), clean);
  t.after(() => store.close());
  const message = makeMessage({ text: `my key is ${secret}`, command: { name: 'x', args: secret } });
  await store.inbox.accept({ ...message, replyTo: { name: 'Bob', text: secret, own: false } }, { now: 1 });
  const lane = (await store.inbox.list('waiting'))[0]?.lane ?? '';
  const item = await store.inbox.take(lane, 2);
  assert.equal(item?.message.id, message.id);
  assert.doesNotMatch(JSON.stringify(item), new RegExp(secret));
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
  const row = await store.outbox.next(lane, Number.MAX_SAFE_INTEGER);
  assert.deepEqual(row?.part, { markdown: shown, buttons: [{ label: shown, action: 'x' }] });
  await store.outbox.dead('k', `refused ${secret}`);
  assert.equal((await store.outbox.givenUp())[0]?.error, `refused ${shown}`);
});

test('S2 L6 neither the audit nor what an operator is answered holds a secret', async () => {
  const event = {
    event: 'skills_installed',
    source: `https://example.org/?key=${secret}`,
    skills: [secret],
  } as const;
  assert.deepEqual(cleanEvent(event, redaction.text), {
    event: 'skills_installed',
    source: `https://example.org/?key=${shown}`,
    skills: [shown],
  });
  const answers = cleanOperate(async () => ({ list: [{ error: secret }] }), clean);
  assert.deepEqual(await answers('inbox list', ''), { list: [{ error: shown }] });
  const fails = cleanOperate(() => Promise.reject(new Error(`no ${secret}`)), clean);
  await assert.rejects(fails('inbox list', ''), { name: 'OperatorError', message: `no ${shown}` });
});
