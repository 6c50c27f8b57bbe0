import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startMessagesServer, type MessagesServer } from '../servers/messages/messages-server.ts';
import type { Mismatch } from '../servers/messages/thinking-signatures.ts';

type Block = Readonly<{ type: string } & Record<string, unknown>>;
type Body = Readonly<{ content: readonly Block[]; error?: { message: string } } & Record<string, unknown>>;
type Said = Readonly<{ role: string; content: readonly Block[] }>;

const text = (value: string): Block => ({ type: 'text', text: value });
const user = (value: string): Said => ({ role: 'user', content: [text(value)] });
const assistant = (content: readonly Block[]): Said => ({ role: 'assistant', content });
const thought: ServerStep = {
  content: [
    { type: 'thinking', thinking: 'Hm.' },
    { type: 'text', text: 'Said.' },
  ],
};

async function serve(t: TestContext, mismatch: Mismatch = 'error'): Promise<MessagesServer> {
  const server = await startMessagesServer({ script: () => thought, mismatch });
  t.after(() => server.close());
  return server;
}

async function ask(
  server: MessagesServer,
  messages: readonly Said[],
  more: object = {},
  key = 'ours',
  beta = '',
) {
  const response = await fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2026-10-21',
      authorization: `Bearer ${key}`,
      ...(beta === '' ? {} : { 'anthropic-beta': beta }),
    },
    body: JSON.stringify({ model: 'claude-sonnet-5-5', max_tokens: 10, system: 'S', messages, ...more }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

/** Two answers with thinking, and the message after them. */
async function conversation(server: MessagesServer) {
  const first = await ask(server, [user('1')]);
  const one = [user('1'), assistant(first.body.content), user('2')];
  const second = await ask(server, one);
  return [...one, assistant(second.body.content), user('3')];
}

const bare = ({ role, content }: Said): Said => ({
  role,
  content: content.filter(({ type }) => type !== 'thinking'),
});
const edited = (said: readonly Said[], at: number, change: (one: Said) => Said): readonly Said[] =>
  said.map((one, index) => (index === at ? change(one) : one));
const bound =
  /^messages\.\d\.content\.0: Invalid `signature` in `thinking` block\. The block is bound to a different/;

test('H9 thinking comes back behind what it was made behind; cache_control and the front do not count', async (t) => {
  const server = await serve(t);
  const said = await conversation(server);
  const marked = edited(said, 0, () => ({
    role: 'user',
    content: [{ ...text('1'), cache_control: { type: 'ephemeral' } }],
  }));
  for (const good of [said, marked, edited(said, 1, bare), said.map(bare)]) {
    assert.equal((await ask(server, good, { tool_choice: { type: 'none' } })).status, 200);
  }
  assert.deepEqual(server.refused, []);
  assert.deepEqual(
    server.requests.flatMap(({ dropped }) => dropped),
    [],
  );
});

const changes: readonly (readonly [string, (said: readonly Said[]) => readonly Said[], object, string])[] = [
  ['another system prompt', (said) => said, { system: 'T' }, 'messages.1'],
  [
    'another tool',
    (said) => said,
    { tools: [{ name: 'a', input_schema: { type: 'object' } }] },
    'messages.1',
  ],
  ['an earlier message edited', (said) => edited(said, 0, () => user('0')), {}, 'messages.1'],
  ['the message before edited', (said) => edited(said, 2, () => user('0')), {}, 'messages.3'],
];
for (const [what, change, more, where] of changes) {
  test(`H9 thinking behind ${what} is refused, or dropped where that is asked for`, async (t) => {
    const server = await serve(t);
    const said = change(await conversation(server));
    const refused = await ask(server, said, more);
    assert.equal(refused.status, 400);
    assert.match(refused.body.error?.message ?? '', bound);
    assert.ok(refused.body.error?.message.startsWith(where));
    const controls = 'thinking-binding-controls-2026-08-01';
    const drop = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } };
    const without = await ask(server, said, { ...more, thinking: drop });
    assert.match(without.body.error?.message ?? '', /block_binding: Extra inputs are not permitted/);
    const dropped = await ask(server, said, { ...more, thinking: drop }, 'ours', controls);
    assert.equal(dropped.status, 200);
    const told = dropped.body['input_transformations'] as readonly { path: string; reason: string }[];
    assert.equal(told[0]?.path, `${where}.content.0`);
    assert.equal(told.at(-1)?.path, 'messages.3.content.0');
    assert.equal(told[0]?.reason, 'prefix_binding_mismatch');
  });
}

test('H9 a thinking block left out between others spoils those after it', async (t) => {
  const server = await serve(t, 'drop_block');
  const said = await conversation(server);
  const third = await ask(server, said);
  const longer = [...said, assistant(third.body.content), user('4')];
  assert.equal((await ask(server, edited(longer, 3, bare))).status, 200);
  assert.deepEqual(
    server.requests.at(-1)?.dropped.map(({ path }) => path),
    ['messages.5.content.0'],
  );
});

test('H9 thinking of another account is refused, of another model not shown', async (t) => {
  const server = await serve(t);
  const said = await conversation(server);
  const foreign = await ask(server, said, {}, 'theirs');
  assert.match(foreign.body.error?.message ?? '', /another account/);
  assert.equal((await ask(server, said, { model: 'claude-opus-5-5' })).status, 200);
  assert.deepEqual(
    server.requests.at(-1)?.dropped.map(({ reason }) => reason),
    ['model_binding_mismatch', 'model_binding_mismatch'],
  );
});

const settings: readonly (readonly [string, object, boolean])[] = [
  ['claude-sonnet-5-5', { thinking: { type: 'disabled' } }, false],
  ['claude-sonnet-5-5', { thinking: { type: 'enabled', budget_tokens: 2_048 } }, false],
  ['claude-sonnet-5-5', { thinking: { type: 'between_tools' } }, true],
  ['claude-sonnet-5-5', { thinking: { type: 'between_tools' }, output_config: { effort: 'max' } }, false],
  ['claude-opus-5-5', { thinking: { type: 'disabled' } }, false],
  ['claude-opus-5-5', { thinking: { type: 'between_tools' } }, false],
  ['claude-haiku-5-5', { thinking: { type: 'disabled' } }, true],
  ['claude-haiku-5-5', { thinking: { type: 'enabled', budget_tokens: 2_048 } }, false],
  ['claude-sonnet-4-5', { thinking: { type: 'enabled', budget_tokens: 2_048 } }, true],
  ['claude-sonnet-5-5', { tool_choice: { type: 'any' } }, false],
  ['claude-sonnet-5-5', { output_config: { effort: 'extreme' } }, false],
];
for (const [model, more, good] of settings) {
  test(`H9 ${model} ${good ? 'takes' : 'refuses'} ${JSON.stringify(more)}`, async (t) => {
    const server = await serve(t);
    const { status } = await ask(server, [user('1')], { model, ...more });
    assert.equal(status, good ? 200 : 400);
  });
}

test('M16 H9 what a 5.5 model says between its calls is thinking, unless it thinks between tools', async (t) => {
  const content = [
    { type: 'text' as const, text: 'I look.' },
    { type: 'tool_use' as const, name: 'look', input: {} },
  ];
  const server = await startMessagesServer({ script: () => ({ content }) });
  t.after(() => server.close());
  const kindsOf = async (model: string, more: object): Promise<readonly string[]> => {
    const answer = await fetch(`${server.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21' },
      body: JSON.stringify({
        model,
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hello' }],
        tools: [{ name: 'look', input_schema: { type: 'object' } }],
        ...more,
      }),
    });
    return ((await answer.json()) as { content: { type: string }[] }).content.map(({ type }) => type);
  };
  for (const [model, more, first] of [
    ['claude-sonnet-5-5', {}, 'thinking'],
    ['claude-opus-5-5', { thinking: { type: 'adaptive' } }, 'thinking'],
    ['claude-sonnet-5-5', { thinking: { type: 'between_tools' } }, 'text'],
    ['claude-haiku-5-5', { thinking: { type: 'disabled' } }, 'text'],
    ['claude-sonnet-4-5', {}, 'text'],
  ] as const)
    assert.deepEqual(await kindsOf(model, more), [first, 'tool_use'], model);
});
