import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanChannel, cleanModels, cleanOperate } from '../../src/bot/redacting-doors.ts';
import { cleanEvent } from '../../src/bot/redact-data.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { createRuntimeConfig } from '../../src/config/runtime-config.ts';
import type { Channel, OnEvent } from '../../src/core/channel.ts';
import { createRedaction, type Secret } from '../../src/lib/redaction/redact.ts';
import { onlyModel, type ModelRequest } from '../../src/core/model.ts';
import { makeMessage } from '../support/make-message.ts';
import { anyFile } from '../support/no-files.ts';
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
  tools: [{ name: 'x', description: secret, input_schema: { type: 'object', description: secret } }],
};

test('S2 M5 what a model is asked holds no secret, ids and signatures stay, and the same request is the same bytes', async () => {
  const model = scriptedModel(['one', 'two']);
  const models = cleanModels(onlyModel(model), clean);
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
    tools: [{ name: 'x', description: shown, input_schema: { type: 'object', description: shown } }],
  });
});

test('S2 a secret that a person sets later is taken out of the tools of the next request', async () => {
  const parsed = parseConfig('', { env: {} });
  assert.ok(parsed.ok);
  let set: readonly Secret[] = [{ name: 'OTHER', value: 'other-other-other' }];
  const model = scriptedModel(['one', 'two']);
  const models = onlyModel(model);
  const live = createRuntimeConfig(
    parsed.config,
    () => models,
    undefined,
    () => set,
  );
  const ask = () =>
    cleanModels(models, () => live.redaction)
      .get()
      .complete(request, new AbortController().signal);
  await ask();
  set = [...set, { name: 'KEY', value: secret }];
  await ask();
  assert.deepEqual(
    model.requests.map(({ tools }) => tools[0]?.input_schema['description']),
    [secret, shown],
  );
});

test('S2 U3 what a model answers, and says piece by piece, holds no secret, its tool calls included', async () => {
  const said: string[] = [];
  const model = scriptedModel([]);
  const answers = {
    ...model,
    complete: async (...[, , onText]: Parameters<typeof model.complete>) => {
      for (const piece of `so ${secret}, then`.match(/.{1,3}/g) ?? []) onText?.(piece);
      const [answer] = [
        scriptedModel([
          {
            text: secret,
            calls: [{ name: 'bash', input: { command: `echo ${secret}`, env: { [secret]: '1' } } }],
          },
        ]),
      ];
      return answer.complete(request, new AbortController().signal);
    },
  };
  const models = cleanModels(onlyModel(answers), clean);
  const { content } = await models
    .get()
    .complete(request, new AbortController().signal, (text) => said.push(text));
  assert.equal(said.join(''), `so ${shown}, then`);
  assert.equal(said[0], 'so ', 'it came as one');
  assert.doesNotMatch(JSON.stringify(content), new RegExp(secret));
  assert.match(JSON.stringify(content), /echo \[redacted KEY\]/);
});

test('S2 whatever a channel shows holds no secret, whoever made it: parts, edits, status, menus, words on a press', async () => {
  const shownBy: unknown[] = [];
  const show = async (...what: readonly unknown[]): Promise<void> => void shownBy.push(what);
  let take: OnEvent = () => Promise.reject(new Error('not started'));
  const bare: Channel = {
    name: 'telegram',
    start: async (onEvent) => void (take = onEvent),
    stop: async () => undefined,
    split: async (markdown) => [markdown],
    files: anyFile,
    async send(_, part) {
      await show(part);
      return { id: '1' };
    },
    find: async () => undefined,
    edit: (_, _receipt, part) => show(part),
    remove: async () => undefined,
    status: (_, status) => show(status),
    async setMenus(menus) {
      await show(menus);
      return [];
    },
    fetchFile: async () => assert.fail('no file is fetched here'),
    lookUpChat: async () => ({ chatType: 'private', external: false }),
    command: (_, name, args = '') => `\`${`/${name} ${args}`.trim()}\``,
    directLink: () => undefined,
  };
  const channel = cleanChannel(bare, clean);
  const { conversation, sender } = makeMessage();
  const file = { id: 'f', name: `${secret}.txt`, mime: 'text/plain', size: 1, path: '/x' };
  const part = { markdown: `it is ${secret}`, buttons: [{ label: secret, action: 'a' }] };
  await channel.send(conversation, { ...part, file }, 'k');
  await channel.edit(conversation, { id: '1' }, part);
  const placeholder = { key: 'k', posted: async () => undefined, keep: async () => undefined };
  await channel.status(conversation, { kind: 'line', text: `mail: ${secret}` }, placeholder);
  const entry = { name: 'mail', description: secret };
  await channel.setMenus({ private: [entry], group: [entry] });
  await channel.start(async (event) => {
    if (event.type === 'press') event.tell?.(`no: ${secret}`);
  });
  const act = { id: 'p', conversation, chatType: 'private', external: false, sender, action: 'a' } as const;
  await take({
    type: 'press',
    press: { ...act, receipt: { id: '1' } },
    tell: (words) => shownBy.push(words),
  });
  const all = JSON.stringify(shownBy);
  assert.equal(all.split(shown).length - 1, 9, all);
  assert.ok(!all.includes(secret), all);
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
