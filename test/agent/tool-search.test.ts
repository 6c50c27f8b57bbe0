import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { runLoop } from '../../src/agent/run-loop.ts';
import { searchTools, type ToolSearch } from '../../src/agent/tool-search.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Entry } from '../../src/core/entry.ts';
import type { Model } from '../../src/core/model.ts';
import { type ToolSpec, readOnly } from '../../src/core/tool.ts';
import { webSearchRows } from '../../src/tools/web/web-search.ts';
import { startChatServer } from '../servers/chat/chat-server.ts';
import type { AnswerBlock, ServerStep } from '../servers/messages/answer.ts';
import {
  startMessagesServer,
  type MessagesServer,
  type Script,
} from '../servers/messages/messages-server.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { httpModelAt } from '../support/model-at.ts';
import { quietLog } from '../support/quiet-log.ts';

const services = [
  'tracker',
  'calendar',
  'mail',
  'wiki',
  'shop',
  'bank',
  'weather',
  'maps',
  'music',
  'photos',
];
const actions = [
  'create',
  'list',
  'delete',
  'search',
  'update',
  'share',
  'export',
  'archive',
  'count',
  'watch',
];

/** A hundred tools of ten services, with schemas of a usual size. */
const many: readonly ToolSpec[] = services.flatMap((service) =>
  actions.map((action) => ({
    name: `mcp_${service}_${action}_items`,
    description: `Use this to ${action} items in the ${service} of the company. Needs the right to ${action}.`,
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string', description: `The id of the ${service} item, as its list shows it.` },
        filter: { type: 'string', enum: ['open', 'closed', 'all'], description: 'Which items count.' },
        limit: { type: 'integer', minimum: 1, maximum: 500, description: 'The most items to return.' },
      },
      required: ['id'],
    },
    traits: readOnly,
  })),
);
const own: ToolSpec = {
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  traits: readOnly,
  row: webSearchRows.web_search,
};
const wanted = 'mcp_calendar_create_items';
const call = (name: string, input: object): ServerStep => ({ content: [{ type: 'tool_use', name, input }] });
const references = (...names: readonly string[]): readonly AnswerBlock[] => [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'tool_search_tool_bm25', input: { query: 'calendar' } },
  {
    type: 'tool_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: {
      type: 'tool_search_tool_search_result',
      tool_references: names.map((tool_name) => ({ type: 'tool_reference', tool_name })),
    },
  },
];
const names = ({ tools = [] }: MessagesRequest): readonly string[] => tools.map(({ name }) => name);
const isAnswered = (body: MessagesRequest): boolean =>
  /"tool_result"/.test(JSON.stringify(body.messages.at(-1)));
const said = (text: string): Entry => ({
  kind: 'user',
  item: text,
  sender: 'telegram:1',
  content: text,
  at: 1,
});

function modelAt(
  { url }: MessagesServer,
  toolSearch: ToolSearch,
  api: 'anthropic' | 'openai' = 'anthropic',
): Model {
  return httpModelAt(
    {
      alias: api,
      model: api === 'openai' ? 'spare' : 'claude-opus-5-5',
      api,
      maxTokens: 1_000,
      toolSearch,
      endpoint: { baseUrl: url, apiKey: 'k' },
    },
    { log: quietLog(), clock: systemClock },
  );
}

async function serve(t: TestContext, script: Script, api: 'anthropic' | 'openai' = 'anthropic') {
  const server = await (api === 'openai' ? startChatServer : startMessagesServer)({
    script,
    minCacheTokens: 10_000_000,
  });
  t.after(() => server.close());
  return server;
}

/** One turn on these entries, stored and read back; without `text` it is taken up again. `asked` are the calls that reached the door. */
async function turn(entries: Entry[], text: string | undefined, model: Model, tools = [own, ...many]) {
  if (text !== undefined) entries.push(said(text));
  const asked: string[] = [];
  const result = await runLoop(
    { system: [{ type: 'text', text: 'You are a test.' }], entries, maxIterations: 6 },
    {
      model,
      tools: () => tools,
      callTool: async ({ name }) => (asked.push(name), { content: 'created', isError: false }),
      append: async (entry) => void entries.push(JSON.parse(JSON.stringify(entry)) as Entry),
      signal: new AbortController().signal,
      clock: systemClock,
    },
  );
  return { result, asked };
}

/** A model that searches by its server, or by the bot's tool, before it calls. */
const searcher: Script = (body) => {
  if (names(body).includes('tool_search_tool_bm25'))
    return isAnswered(body)
      ? 'It is done.'
      : { content: [...references(wanted), { type: 'tool_use', name: wanted, input: { id: '1' } }] };
  if (/created/.test(JSON.stringify(body.messages.at(-1)))) return 'It is done.';
  return names(body).includes(wanted)
    ? call(wanted, { id: '1' })
    : call('tools_search', { query: 'create calendar' });
};

const inputOf = ({ requests }: MessagesServer): readonly number[] =>
  requests.map(
    ({ usage }) => usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
  );

test('M20 with 100 tools the model searches itself: most are deferred, and a turn takes a fraction of the tokens', async (t) => {
  const tokens: Record<string, number> = {};
  for (const search of ['off', 'model', 'own'] as const) {
    const server = await serve(t, searcher);
    const entries: Entry[] = [];
    const { result, asked } = await turn(entries, 'a date, please', modelAt(server, search));
    assert.deepEqual([result.text, asked, server.refused], ['It is done.', [wanted], []]);
    tokens[search] = inputOf(server).reduce((sum, one) => sum + one, 0);
    const [first] = server.requests;
    const sent = first?.body.tools ?? [];
    const deferred = sent.filter((tool) => tool.defer_loading === true).length;
    const expected = { off: [101, 0], model: [102, 100], own: [2, 0] }[search];
    assert.deepEqual([sent.length, deferred], expected, search);
    t.diagnostic(
      `${search}: ${server.requests.length} requests, ${tokens[search]} input tokens, first request ${inputOf(server)[0]}`,
    );
  }
  const { off = 0, model = 0, own: bots = 0 } = tokens;
  assert.ok(model < off / 10, `${model} of ${off}`);
  assert.ok(bots < off / 10, `${bots} of ${off}`);
});

test('M20 what the server found stays in the history of its own kind, and goes to no other', async (t) => {
  const [claude, other] = [await serve(t, searcher), await serve(t, searcher, 'openai')];
  const entries: Entry[] = [];
  await turn(entries, 'one', modelAt(claude, 'model'));
  await turn(entries, 'two', modelAt(other, 'own', 'openai'));
  const { result } = await turn(entries, 'three', modelAt(claude, 'model'));
  assert.equal(result.text, 'It is done.');
  assert.deepEqual([claude.refused, other.refused], [[], []]);
  assert.match(JSON.stringify(claude.requests.at(-1)?.body.messages), /"tool_search_tool_result"/);
  assert.doesNotMatch(
    JSON.stringify(other.requests.map(({ body }) => body.messages)),
    /tool_search_tool|srvtoolu/,
  );
  const elsewhere = await serve(t, searcher);
  await turn(entries, 'four', modelAt(elsewhere, 'model'));
  assert.deepEqual(elsewhere.refused, []);
  assert.doesNotMatch(
    JSON.stringify(elsewhere.requests[0]?.body.messages),
    /tool_search_tool_result/,
    'another server',
  );
});

test('M20 tools that are gone, and too few tools for a search, leave a history that the API takes', async (t) => {
  const server = await serve(t, searcher);
  const entries: Entry[] = [];
  await turn(entries, 'one', modelAt(server, 'model'));
  const fewer = [own, ...many.filter(({ name }) => name !== wanted)];
  const answer = (body: MessagesRequest): ServerStep =>
    names(body).includes(wanted) ? 'It is there.' : 'It is gone.';
  const later = await startMessagesServer({ script: answer });
  t.after(() => later.close());
  for (const [tools, expected] of [
    [fewer, 'It is gone.'],
    [[own], 'It is gone.'],
    [[own, ...many], 'It is there.'],
  ] as const) {
    const { result } = await turn(entries, 'two', modelAt({ ...later, url: later.url }, 'model'), [...tools]);
    assert.equal(result.text, expected);
  }
  const same = await turn(entries, 'three', modelAt(server, 'model'), fewer);
  assert.equal(same.result.status, 'ok');
  assert.deepEqual([server.refused, later.refused], [[], []]);
  const last = server.requests.at(-2)?.body.messages ?? [];
  assert.doesNotMatch(JSON.stringify(last).split('"three"')[0] ?? '', new RegExp(`"tool_name":"${wanted}"`));
});

test('M20 A11 the bot’s search finds only what may be used here now, lends it for the next steps, and is kept in the journal', async (t) => {
  const server = await serve(t, searcher, 'openai');
  const entries: Entry[] = [];
  const { asked } = await turn(entries, 'a date', modelAt(server, 'own', 'openai'));
  assert.deepEqual(asked, [wanted], 'the search itself is no effect');
  const shown = server.requests.map(({ body }) =>
    names(body)
      .filter((name) => name !== 'look')
      .join(),
  );
  const [before, after] = shown;
  assert.equal(before, 'tools_search');
  const found = after?.split(',') ?? [];
  assert.ok(found.includes(wanted) && found.length <= 6, after);
  assert.equal(shown[2], after, 'what was found stays');
  const results = entries.filter((entry) => entry.kind === 'tool_result').map(({ content }) => content);
  assert.match(results[0] ?? '', /^You can call these tools now:\n- mcp_calendar_create_items: /);
  // Cut off behind the search, and taken up again.
  const cut = entries.slice(0, entries.findIndex(({ kind }) => kind === 'tool_result') + 1);
  const again = await serve(t, searcher, 'openai');
  const resumed = await turn(cut, undefined, modelAt(again, 'own', 'openai'));
  assert.deepEqual([resumed.result.text, resumed.asked, again.requests.length], ['It is done.', [wanted], 2]);
  const without = [own, ...many.filter(({ name }) => name !== wanted)];
  const refused = await serve(
    t,
    (body) =>
      isAnswered(body)
        ? JSON.stringify(body.messages.at(-1))
        : call('tools_search', { query: 'create calendar' }),
    'openai',
  );
  const { result } = await turn([], 'a date', modelAt(refused, 'own', 'openai'), without);
  assert.doesNotMatch(result.text, new RegExp(wanted));
});

test('M20 tools that are not sent make no request look long, so nothing is compacted for them', async (t) => {
  const server = await serve(t, () => 'Yes.');
  const model = { ...modelAt(server, 'own'), contextWindow: 8_000 };
  const entries: Entry[] = [];
  for (const text of ['one', 'two', 'three', 'four', 'five']) await turn(entries, text, model);
  assert.equal(entries.filter(({ kind }) => kind === 'summary').length, 0);
  assert.equal(server.requests.length, 5);
});

test('M20 few tools are all sent, and the bot’s own always are', async (t) => {
  const server = await serve(t, () => 'Yes.');
  await turn([], 'one', modelAt(server, 'model'), [own, ...many.slice(0, 10)]);
  await turn(
    [],
    'one',
    modelAt(server, 'model'),
    Array.from({ length: 60 }, (_, n) => ({ ...own, name: `own_${n}` })),
  );
  assert.deepEqual(
    server.requests.map(({ body }) => body.tools?.filter((tool) => tool.defer_loading === true).length),
    [0, 0],
  );
  assert.ok(!names(server.requests[1]!.body).some((name) => name.includes('search')));
});

test('M20 the search goes by the rarest word, knows names in any spelling, and finds nothing for words that no tool has', () => {
  const tool = (name: string, description = ''): ToolSpec => ({ ...own, name, description });
  const tools = [
    tool('mail_send'),
    tool('createIssue', 'Makes issues.'),
    tool('list_issues'),
    tool('team_mail', 'mail of teams'),
  ];
  const found = (query: string) => searchTools(tools, query).map(({ name }) => name);
  assert.deepEqual(found('create an issue'), ['createIssue']);
  assert.deepEqual(found('Issues'), ['createIssue', 'list_issues']);
  assert.deepEqual(found('send MAIL'), ['mail_send']);
  assert.deepEqual(found('gmail'), []);
  assert.deepEqual(found(''), []);
});

test('M20 H9 the test server refuses what the API refuses of deferred tools', async (t) => {
  const server = await serve(t, () => 'Yes.');
  const ask = async (body: object): Promise<string> => {
    const answer = await fetch(`${server.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'claude-opus-5-5',
        max_tokens: 10,
        messages: [{ role: 'user', content: 'x' }],
        ...body,
      }),
    });
    return `${answer.status} ${await answer.text()}`;
  };
  const tool = { name: 'a', input_schema: { type: 'object' }, defer_loading: true };
  const search = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' };
  assert.match(await ask({ tools: [tool] }), /^400 .*At least one tool must have defer_loading=false/);
  assert.match(await ask({ tools: [tool, search] }), /^200/);
  assert.match(
    await ask({ tools: [{ ...tool, cache_control: { type: 'ephemeral' } }, search] }),
    /^400 .*cannot have both/,
  );
  assert.match(
    await ask({ model: 'claude-haiku-4-5', tools: [tool, search] }),
    /^400 .*does not support tool types/,
  );
  const history = (name: string) => [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: references(name) },
    { role: 'user', content: 'y' },
  ];
  assert.match(await ask({ tools: [tool, search], messages: history('a') }), /^200/);
  assert.match(
    await ask({ tools: [tool, search], messages: history('b') }),
    /^400 .*Tool reference 'b' not found/,
  );
});
