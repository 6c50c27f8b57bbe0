import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { startChatServer } from '../servers/chat/chat-server.ts';
import type { AnswerBlock, ServerStep } from '../servers/messages/answer.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { isRun } from '../support/call-steps.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const open =
  '[bot]\nowner = ["telegram:1001"]\nshutdown_seconds = 1\n[access]\ndm = "open"\n[skills]\nbundled = false\n';
const searching = '[agent]\ntools = ["use_skill", "web_search"]\n[tools.web_search]\nprovider = "model"\n';
const url = 'https://owls.example/hoot_(bird)';

const asks: AnswerBlock = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: { query: 'owls' },
};
const found: AnswerBlock = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    {
      type: 'web_search_result',
      url,
      title: 'Owls',
      encrypted_content: 'c2VjcmV0LW9mLXRoZS1zZXJ2ZXI=',
      page_age: null,
    },
  ],
};
const cited: AnswerBlock = {
  type: 'text',
  text: 'Owls hoot.',
  citations: [
    {
      type: 'web_search_result_location',
      url,
      title: 'Owls',
      encrypted_index: 'aW5kZXg=',
      cited_text: 'hoot',
    },
    {
      type: 'web_search_result_location',
      url,
      title: 'Owls',
      encrypted_index: 'aW5kZXgy',
      cited_text: 'they hoot',
    },
    {
      type: 'web_search_result_location',
      url: 'javascript:alert(1)',
      title: 'x',
      encrypted_index: 'eA==',
      cited_text: 'x',
    },
  ],
};
const offers = ({ tools = [] }: MessagesRequest): boolean => tools.some(({ name }) => name === 'web_search');
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));
const answer = (body: MessagesRequest): ServerStep =>
  offers(body) ? { content: [asks, found, cited] } : 'I have no search.';

async function begin(
  t: TestContext,
  toml: string,
  script: NonNullable<WholeBotOptions['script']>,
  more: Partial<WholeBotOptions> = {},
) {
  const bot = await startWholeBot(t, {
    toml: `${open}${toml}`,
    api: 'anthropic',
    script,
    flood: false,
    ...more,
  });
  return { ...bot, ann: bot.telegram.person({ id: 1001, name: 'Ann' }) };
}

test('M21 U10 the model searches by its server: links in the answer, blocks in its history, and a price for each search', async (t) => {
  const { ann, bot, messages } = await begin(t, searching, answer);
  for (const said of ['owls?', 'again?']) {
    ann.says(said);
    const { text, entities } = await ann.dm.nextMessage(/^Owls hoot/);
    assert.equal(text, 'Owls hoot. (owls.example)');
    assert.deepEqual(
      entities.map(({ type, url: to }) => [type, to]),
      [['text_link', 'https://owls.example/hoot_%28bird%29']],
    );
  }
  await bot.idle();
  const [first, second] = messages.requests.map(({ body }) => body);
  assert.deepEqual(
    first?.tools?.filter(({ name }) => name === 'web_search'),
    [{ type: 'web_search_20260318', name: 'web_search', max_uses: 5, allowed_callers: ['direct'] }],
  );
  assert.match(
    JSON.stringify(second?.messages),
    /"web_search_tool_result".*c2VjcmV0LW9mLXRoZS1zZXJ2ZXI=.*"encrypted_index"/,
  );
  assert.deepEqual(messages.refused, []);
  const rows = await bot.operate('stats', '2020-01-01');
  const searches = rows.filter(({ model }) => model === 'default · searches');
  assert.deepEqual([searches.length, searches[0]?.tokens.input], [1, 2]);
});

test('M21 G4 searches count towards limits in dollars, by the price in the config', async (t) => {
  const { ann, restart } = await begin(t, `${searching}price = 2000\n[limits]\nusd_per_day = 1\n`, answer);
  ann.says('owls?');
  await ann.dm.nextMessage(/^Owls hoot/);
  // Sums may be a second old, but not those of a new process.
  await restart();
  ann.says('again?');
  await ann.dm.nextMessage(/^Your budget of/);
});

test('M3 M21 a search that pauses is gone on with, and what the server made goes back to it', async (t) => {
  const { ann, messages } = await begin(t, searching, (_, index) =>
    index === 0
      ? { content: [{ type: 'text', text: 'I look. ' }, asks], stopReason: 'pause_turn' }
      : { content: [found, cited] },
  );
  ann.says('owls?');
  await ann.dm.nextMessage('I look. Owls hoot. (owls.example)');
  assert.equal(messages.requests[1]?.body.messages.at(-1)?.role, 'assistant');
  ann.says('more?');
  await ann.dm.nextMessage(/Owls hoot/);
  assert.deepEqual(messages.refused, []);
});

test('S7 M21 once a sensitive skill has answered the model is not offered its search, in the turn and after it; /new ends that', async (t) => {
  const { ann, messages } = await begin(
    t,
    searching,
    (body) => {
      if (isRun(body)) return 'Lunch with Bob.';
      if (/diary/.test(lastOf(body)) && !/tool_result/.test(lastOf(body)))
        return {
          content: [{ type: 'tool_use', name: 'use_skill', input: { skill: 'diary', message: 'go' } }],
        };
      return answer(body);
    },
    {
      skills: {
        diary:
          '---\nname: diary\ndescription: Reads.\nsensitive: true\nallowed_tools: [web_search]\n---\nRead.\n',
      },
    },
  );
  for (const [said, expected] of [
    ['owls?', /^Owls hoot/],
    ['the diary', 'I have no search.'],
    ['owls?', 'I have no search.'],
    ['/new', /New conversation|new conversation/i],
    ['owls?', /^Owls hoot/],
  ] as const) {
    ann.says(said);
    await ann.dm.nextMessage(expected);
  }
  const runs = messages.requests.filter(({ body }) => isRun(body));
  assert.deepEqual(
    [runs.length, runs.some(({ body }) => offers(body))],
    [1, false],
    'nor in the run of that skill',
  );
  assert.deepEqual(messages.refused, []);
});

test('T8 M21 where the policy asks or refuses, or the main agent lacks the tool, no search is offered', async (t) => {
  for (const toml of [
    `${searching}[[policy.rules]]\ntool = "web_search"\naction = "confirm"\n`,
    `${searching}[[policy.rules]]\ntool = "web_*"\naction = "deny"\n`,
    '[tools.web_search]\nprovider = "model"\n',
  ]) {
    const { ann } = await begin(t, toml, answer);
    ann.says('owls?');
    await ann.dm.nextMessage('I have no search.');
  }
});

test('T6 M21 while the main agent follows a skill without the tool, no search is offered', async (t) => {
  const { ann } = await begin(
    t,
    searching.replace('"use_skill"', '"use_skill", "skills_load"'),
    (body) =>
      /load it/.test(lastOf(body)) && !/tool_result/.test(lastOf(body))
        ? { content: [{ type: 'tool_use', name: 'skills_load', input: { skill: 'plain' } }] }
        : answer(body),
    {
      skills: {
        plain:
          '---\nname: plain\ndescription: Plain.\ncontext: inline\nallowed_tools: [skills_read_file]\n---\nBe plain.\n',
      },
    },
  );
  ann.says('load it');
  await ann.dm.nextMessage('I have no search.');
  ann.says('owls?');
  await ann.dm.nextMessage(/^Owls hoot/);
});

test('M18 M21 what a server found goes to no other: the next model reads the words, also in the middle of a pause', async (t) => {
  const other = await startChatServer({ script: () => 'From the other.' });
  t.after(() => other.close());
  let paused = false;
  const { ann, messages } = await begin(
    t,
    `${searching}[models]\nfallback = ["other"]\n[models.other]\napi = "openai"\nmodel = "spare"\nbase_url = "${other.url}"\napi_key = "k0123456789"\n`,
    (body) => {
      if (/pause/.test(lastOf(body))) return ((paused = true), { content: [asks], stopReason: 'pause_turn' });
      return paused ? { status: 401 } : answer(body);
    },
  );
  ann.says('owls?');
  await ann.dm.nextMessage(/^Owls hoot/);
  ann.says('now pause');
  await ann.dm.nextMessage('From the other.');
  assert.deepEqual([messages.refused, other.refused], [[], []]);
  assert.doesNotMatch(JSON.stringify(other.requests[0]?.body), /web_search|srvtoolu|encrypted/);
  assert.match(JSON.stringify(other.requests[0]?.body.messages), /Owls hoot/);
});

test('M21 G2 a model without a search, and keys of other providers, are problems of the config with their fix', () => {
  const told = (toml: string): string => {
    const parsed = parseConfig(toml, { env: {} });
    return parsed.ok ? 'none' : JSON.stringify(parsed.problems);
  };
  const search = '[tools.web_search]\nprovider = "model"\n';
  assert.equal(told(search), 'none');
  assert.equal(told(`${search}price = 5\n`), 'none');
  assert.equal(told(`${search}[models.default]\nmodel = "claude-sonnet-5-5"\napi = "vertex"\n`), 'none');
  for (const model of [
    'model = "gpt-5.4"\napi = "openai"\napi_key = "k"',
    'model = "claude-sonnet-5-5"\napi = "bedrock"',
    'model = "qwen3"\nbase_url = "http://127.0.0.1:1"',
  ])
    assert.match(
      told(`${search}[models.default]\n${model}\n`),
      /tools\.web_search\.provider.*has no search of its own.*write .*brave.*or name such a model in \[agent\] model/s,
    );
  assert.match(told(`${search}results = 3\n`), /tools\.web_search\.results.*remove the line/);
});
