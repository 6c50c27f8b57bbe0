import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { isRun } from '../support/call-steps.ts';
import { serveTools } from '../servers/mcp/start-http-server.ts';
import { answerForm, asker, askTool, choice, codeOf, formOf, toml } from '../support/mcp-input.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const size = formOf('Which size?', { size: choice('S', 'M', 'L') }, ['size']);
const address = formOf(
  'Where to?',
  {
    street: { type: 'string', title: 'Street', minLength: 3 },
    floor: { type: 'integer', minimum: 0, maximum: 40 },
    gift: { type: 'boolean', default: false },
  },
  ['street', 'floor'],
);

async function stage(t: TestContext, forms: readonly object[], more = '', name = 'ask') {
  const server = await serveTools(t, { tools: [{ ...askTool, name }], forms }, '2026-07-28');
  const bot = await startWholeBot(t, { toml: toml(server.url, more), script: asker(`mcp_shop_${name}`) });
  await bot.log.line(({ message }) => message === 'an MCP server is connected');
  return { ...bot, server, whole: bot, ann: bot.telegram.person({ name: 'Ann', id: 42 }) };
}

test('X9 U14 a server asks in the middle of a call: the person answers it themselves, round by round, and no model sees a word of it', async (t) => {
  const { ann, server, messages } = await stage(t, [size, address]);
  ann.says('order it');
  const first = await ann.dm.nextMessage(/The MCP server shop asks you something.*Which size\?/s);
  assert.match(first.text, /write no secrets/);
  ann.says(`${codeOf(first.text)} XXL`);
  await ann.dm.nextMessage(/size: write S, M,? or L\./);
  ann.says(`${codeOf(first.text)} m`);
  await ann.dm.nextMessage('I passed your answer on to shop.');
  const second = await ann.dm.nextMessage(/Where to\?/);
  const code = codeOf(second.text);
  ann.says(`${code}\nstreet: Elm Street 7\nfloor: 99`);
  await ann.dm.nextMessage(/floor: write a whole number from 0 to 40\./);
  ann.says(`${code} anything at all`);
  await ann.dm.nextMessage(/Write one line for each field, such as street: …\./);
  ann.says(`${code}\nStreet: Elm Street 7\nfloor: 3`);
  await ann.dm.nextMessage('I passed your answer on to shop.');
  const end = await ann.dm.nextMessage(/It says/);
  assert.match(end.text, /"size":"M".*"street":"Elm Street 7","floor":3,"gift":false/);
  assert.equal(messages.requests.length, 2);
  const sent = JSON.stringify(messages.requests);
  assert.doesNotMatch(sent, /Which size|Where to/);
  assert.equal(server.answered.length, 2);
  assert.ok(server.seen.every((headers) => !('mcp-session-id' in headers)));
  ann.says(`${code} again`);
  await ann.dm.nextMessage('I no longer wait for that answer. Please ask me again.');
});

test('X9 a server that asks for ever is given up after five answers', async (t) => {
  const { ann, server } = await stage(t, [size], '', 'endless');
  ann.says('order it');
  for (let round = 0; round < 5; round++) {
    answerForm(ann, (await ann.dm.nextMessage(/Which size\?/)).text, 'M');
    await ann.dm.nextMessage('I passed your answer on to shop.');
  }
  await ann.dm.nextMessage(/It says.*asked more than 5 times before it answered: it was given up/);
  assert.equal(server.answered.length, 5);
});

test('X9 three forms at once are asked for one after the other; of more, none is', async (t) => {
  const { ann, server } = await stage(t, [size, size, size], '', 'several');
  ann.says('order it');
  for (const answer of ['S', 'M', 'L']) {
    answerForm(ann, (await ann.dm.nextMessage(/Which size\?/)).text, answer);
    await ann.dm.nextMessage('I passed your answer on to shop.');
  }
  await ann.dm.nextMessage(/It says/);
  assert.deepEqual(
    server.answered.flatMap((answers) => Object.values(answers as Record<string, unknown>)),
    ['S', 'M', 'L'].map((one) => ({ action: 'accept', content: { size: one } })),
  );
  const many = await stage(t, [size, size, size, size], '', 'several');
  many.ann.says('order it');
  await many.ann.dm.nextMessage(/It says.*asked for too much at once: nothing was asked of the person/);
});

test('X9 a choice has buttons; a no is told to the server, which decides what that means', async (t) => {
  const { ann } = await stage(t, [size]);
  ann.says('order it');
  ann.presses((await ann.dm.nextMessage(/Which size\?/)).id, 'L');
  assert.match((await ann.dm.nextMessage(/It says/)).text, /"size":"L"/);
  ann.says('order it');
  ann.presses((await ann.dm.nextMessage(/Which size\?/)).id, 'Do not answer');
  assert.match((await ann.dm.nextMessage(/It says/)).text, /\{"action":"decline"\}/);
  ann.says('order it');
  ann.says(`no ${codeOf((await ann.dm.nextMessage(/Which size\?/)).text)}`);
  await ann.dm.nextMessage('I told shop that you do not answer.');
  assert.match((await ann.dm.nextMessage(/It says/)).text, /\{"action":"decline"\}/);
});

test('X9 Q7 the question survives a restart, and the call continues with its answer', async (t) => {
  const set = await stage(t, [size]);
  set.ann.says('order it');
  const asked = await set.ann.dm.nextMessage(/Which size\?/);
  await set.whole.restart();
  set.ann.says(`${codeOf(asked.text)} S`);
  await set.ann.dm.nextMessage('I passed your answer on to shop.');
  assert.match((await set.ann.dm.nextMessage(/It says/)).text, /"size":"S"/);
  const calls = set.server.asked.filter((method) => method === 'tools/call');
  assert.equal(calls.length, 2, 'the first round is not repeated');
});

test('X9 U16 in a group the question goes to the person alone, nobody else can answer it, and a stop ends it', async (t) => {
  const { ann, telegram } = await stage(t, [size], 'chat_types = ["private", "group"]\n');
  const bob = telegram.person({ name: 'Bob', id: 7 });
  const room = telegram.group({ title: 'Team' });
  ann.says('hello');
  await ann.dm.nextMessage(/./);
  ann.says('@test_bot order it', { in: room });
  const asked = await ann.dm.nextMessage(/Which size\?/);
  await room.nextMessage('I answered you in a direct message.');
  bob.says(`@test_bot ${codeOf(asked.text)} S`, { in: room });
  await room.nextMessage(/./);
  const other = telegram.group({ title: 'Other' });
  ann.says(`@test_bot ${codeOf(asked.text)} S`, { in: other });
  await other.nextMessage(/./);
  answerForm(ann, asked.text, 'M');
  await ann.dm.nextMessage('I passed your answer on to shop.');
  assert.match((await room.nextMessage(/It says/)).text, /"size":"M"/);
  ann.says('@test_bot order it', { in: room });
  const again = await ann.dm.nextMessage(/Which size\?/);
  ann.says('/stop@test_bot', { in: room });
  await room.nextMessage(/[Ss]top/);
  answerForm(ann, again.text, 'M');
  await ann.dm.nextMessage('I no longer wait for that answer. Please ask me again.');
});

test('X9 U16 on Slack a question from a channel comes as a direct message, with buttons, and a code answers it', async (t) => {
  const server = await serveTools(t, { tools: [askTool], forms: [size, address] }, '2026-07-28');
  const users = '["slack:U00000004", "slack:U00000005"]';
  const { slack, log, messages } = await startWholeBot(t, {
    channels: ['slack'],
    toml: `[access]\nusers = ${users}\ngroups_mode = "open"\n[mcp.shop]\nurl = "${server.url}"\ntrusted = true\nusers = ${users}\nchat_types = ["private", "channel"]\n`,
    script: asker('mcp_shop_ask'),
  });
  await log.line(({ message }) => message === 'an MCP server is connected');
  const [anna, bert] = [slack.workspace.addUser('anna'), slack.workspace.addUser('bert')];
  const room = slack.workspace.addRoom('channel', { members: [anna.id, bert.id] });
  const dm = slack.workspace.dmWith(anna.id);
  const asked = slack.people.mention(anna, room, 'order it');
  const first = await slack.posted(({ channel, text }) => channel === dm.id && text.includes('Which size?'));
  await slack.people.press(anna, first, 'L');
  const second = await slack.posted(({ channel, text }) => channel === dm.id && text.includes('Where to?'));
  const answer = `${codeOf(second.text.replaceAll('`', ''))}\nstreet: Elm Street 7\nfloor: 3`;
  await slack.people.dm(bert, answer).delivered;
  slack.people.dm(anna, answer);
  await slack.posted(({ channel, text }) => channel === dm.id && /I passed your answer on to/.test(text));
  const end = await slack.posted(({ channel, text }) => channel === room.id && text.includes('It says'));
  assert.equal(end.threadTs, asked.ts);
  assert.match(end.text, /"size":"L".*"street":"Elm Street 7","floor":3/);
  assert.ok(slack.transcript(room).every((said) => !/Which size|Where to|Elm Street 7$/.test(said)));
  assert.equal(server.answered.length, 2);
  assert.doesNotMatch(JSON.stringify(messages.requests), /Which size|Where to/);
});

test('X9 U9 a question of a server in the middle of a skill’s run is answered by the person, and the run continues with it', async (t) => {
  const server = await serveTools(t, { tools: [askTool], forms: [size] }, '2026-07-28');
  const call = asker('mcp_shop_ask');
  const shop = { id: 'toolu_shop', name: 'use_skill', input: { skill: 'shopper', message: 'order it' } };
  const bot = await startWholeBot(t, {
    toml: toml(server.url),
    skills: {
      shopper: '---\nname: shopper\ndescription: Shops.\ntools: ["mcp_shop_*"]\n---\nShop.\n',
    },
    script: (body, index) => {
      if (isRun(body)) return call(body, index);
      const last = JSON.stringify(body.messages.at(-1));
      return last.includes('tool_result')
        ? `The run: ${last.replaceAll('\\', '')}`
        : { content: [{ type: 'tool_use', ...shop }] };
    },
  });
  await bot.log.line(({ message }) => message === 'an MCP server is connected');
  const ann = bot.telegram.person({ name: 'Ann', id: 42 });
  ann.says('Shop for me');
  const asked = await ann.dm.nextMessage(/Which size\?/);
  answerForm(ann, asked.text, 'M');
  await ann.dm.nextMessage('I passed your answer on to shop.');
  assert.match((await ann.dm.nextMessage(/The run/)).text, /"size":"M"/);
  assert.equal(server.answered.length, 1);
});
