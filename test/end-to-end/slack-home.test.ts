import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { SlackUser } from '../servers/slack/workspace.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\nDo it.\n`;
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');
const lastOf = (body: MessagesRequest): string => JSON.stringify(body.messages.at(-1));

/** Ids of the first users of a workspace. */
const annasId = 'U00000004';
const bensId = 'U00000005';

const toml = [
  `[bot]\nowner = ["slack:${annasId}"]\nshutdown_seconds = 1`,
  `[access]\nusers = ["slack:${bensId}"]`,
  `[skills]\nbundled = false\n[skills.payroll]\nallow_users = ["slack:${annasId}"]`,
].join('\n');

/** Anna owns the bot, Ben may use it, and nobody knows Cid. Payroll is Anna's alone. */
async function withHome(
  t: TestContext,
  more: Partial<Parameters<typeof startWholeBot>[1]> = {},
  locale: string | undefined = undefined,
) {
  const set = await startWholeBot(t, {
    toml,
    skills: {
      lookup: skill('lookup'),
      payroll: skill('payroll'),
      rooms: skill('rooms', 'access:\n  chat_types: [channel]\n'),
    },
    script: () => 'Said nicely.',
    channels: ['slack'],
    ...more,
  });
  const { slack } = set;
  const annas = locale === undefined ? {} : { locale };
  const [anna, ben] = [slack.workspace.addUser('anna', annas), slack.workspace.addUser('ben')];
  const cid = slack.workspace.addUser('cid', { locale: 'de-DE' });
  assert.deepEqual([anna.id, ben.id], [annasId, bensId]);
  /** The next page of this person with these words. */
  const page = async (user: SlackUser, words: RegExp): Promise<string> => {
    const { view } = await slack.homes.until(
      (home) => home.user === user.id && words.test(JSON.stringify(home.view)),
    );
    return JSON.stringify(view);
  };
  return { ...set, anna, ben, cid, page };
}

test('H4 A2 the Home tab lists what a person may start in a direct message, and what they have used', async (t) => {
  const { slack, ben, anna, page } = await withHome(t);
  await slack.people.openHome(ben);
  const bens = await page(ben, /lookup/);
  assert.match(bens, /`\/skill lookup`/);
  assert.match(bens, /Your tokens today/);
  assert.doesNotMatch(bens, /payroll|rooms|Settings of tools/);
  await slack.people.openHome(anna);
  const annas = await page(anna, /lookup/);
  assert.match(annas, /payroll/);
  assert.match(annas, /Settings of tools/);
});

test('H4 H14 the Home tab, its settings too, is in the language of its visitor', async (t) => {
  const { slack, page, anna } = await withHome(t, {}, 'de-DE');
  await slack.people.openHome(anna);
  const shown = await page(anna, /lookup/);
  assert.match(shown, /Einstellungen der Werkzeuge in diesem Chat:[^]*🌐 Seiten lesen/);
  assert.doesNotMatch(shown, /Settings|Done|Fertig/);
});

test('H4 I1 a skill that is started on the Home tab answers in the direct message', async (t) => {
  const { slack, messages, ben, page } = await withHome(t, {
    script: (body) => (isRun(body) ? 'found it' : 'Said nicely.'),
  });
  await slack.people.openHome(ben);
  await page(ben, /lookup/);
  assert.equal((await slack.people.pressHome(ben, 'lookup')).ok, true);
  await slack.posted(({ text, channel }) => text.includes('Said nicely') && channel.startsWith('D'));
  assert.ok(isRun(messages.requests[0]!.body));
  await page(ben, /I answer in our direct message/);
});

test('H4 A9 a stranger reads on the Home tab what to do, and no more; a page from before starts nothing', async (t) => {
  const { slack, bot, messages, ben, cid, page, log, reconfigure } = await withHome(t);
  await slack.people.openHome(cid);
  const stranger = await page(cid, /./);
  assert.match(stranger, /Ich kenne dich noch nicht\..*Kopplungscode/);
  assert.doesNotMatch(stranger, /lookup|[Tt]okens|Mode|Settings|actions/);
  await slack.people.openHome(ben);
  await page(ben, /lookup/);
  await reconfigure(toml.replace(bensId, 'U0NOBODY'));
  await log.line(({ message }) => message === 'the config was changed');
  await slack.people.pressHome(ben, 'lookup');
  const removed = await page(ben, /pairing code/);
  assert.doesNotMatch(removed, /lookup/);
  await bot.idle();
  assert.equal(messages.requests.length, 0);
});

test('H4 A10 an owner reads who waits for them, and approves there', async (t) => {
  const { slack, anna, ben, cid, page } = await withHome(t);
  const dm = slack.workspace.dmWith(cid.id);
  slack.people.dm(cid, 'hello');
  await slack.posted(({ channel, text }) => channel === dm.id && text.includes('Kopplungscode'));
  await slack.people.openHome(ben);
  assert.doesNotMatch(await page(ben, /lookup/), /asks to use/);
  await slack.people.openHome(anna);
  await page(anna, /cid.{0,80}asks to use this bot/);
  await slack.people.pressHome(anna, 'Approve');
  await slack.posted(({ text }) => /Approved .?cid/.test(text));
  await slack.homes.until(
    ({ user, view }) =>
      user === anna.id && /lookup/.test(JSON.stringify(view)) && !/asks to use/.test(JSON.stringify(view)),
  );
  await slack.people.openHome(cid);
  await page(cid, /lookup/);
});

test('H4 U9 the Home tab shows the runs of this person, and a button stops one', async (t) => {
  const never = new Promise<void>(() => undefined);
  const { slack, anna, ben, page, bot } = await withHome(t, {
    skills: { dig: skill('dig') },
    script: (body) => {
      if (isRun(body)) return { content: [{ type: 'text', text: 'cut off' }], wire: { hold: never } };
      if (/status.{0,5}running/.test(lastOf(body))) return 'It runs.';
      if (/has ended/.test(lastOf(body))) return 'It was stopped.';
      const input = { skill: 'dig', message: 'Find it.', background: true };
      return { content: [{ type: 'tool_use', id: 'toolu_1', name: 'use_skill', input }] };
    },
  });
  slack.people.dm(ben, 'find it');
  await slack.posted(({ text }) => text.includes('It runs.'));
  await slack.people.openHome(anna);
  assert.doesNotMatch(await page(anna, /Your tokens/), /running since/);
  await slack.people.openHome(ben);
  await page(ben, /dig, for .{0,4}ben.{0,4}, running since/);
  await slack.people.pressHome(ben, 'Stop');
  await page(ben, /Stopping\./);
  await bot.idle();
  await slack.people.openHome(ben);
  await slack.homes.until(
    ({ user, view }) =>
      user === ben.id &&
      /Your tokens/.test(JSON.stringify(view)) &&
      !/running|Stopping/.test(JSON.stringify(view)),
  );
});

test('H4 A2 U13 with the agent view people are offered what they may start, and see that the bot is at work', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { slack, ben, anna, cid } = await withHome(t, {
    slack: 'agent_view = true',
    script: () => ({
      content: [{ type: 'text', text: 'Said nicely.' }],
      wire: { hold: gate.promise, holdBefore: 1 },
    }),
  });
  for (const one of [cid, ben, anna]) assert.equal((await slack.people.openMessages(one))[0]?.acked, true);
  const offered = await slack.shown.untilCount(2, ({ kind }) => kind === 'prompts');
  const of = (user: SlackUser) =>
    JSON.stringify(offered.find(({ channel }) => channel === slack.workspace.dmWith(user.id).id));
  assert.match(of(ben), /What can you do\?.*"!lookup"/);
  assert.doesNotMatch(of(ben), /payroll|rooms/);
  assert.match(of(anna), /payroll/);
  assert.equal(offered.length, 2);
  const said = slack.people.dm(ben, 'Where is the map?');
  await slack.shown.until(({ kind, thread }) => kind === 'status' && thread === said.ts);
  gate.resolve();
  const answer = await slack.posted(({ text }) => text.includes('Said nicely'));
  assert.equal(answer.threadTs, said.ts);
  await slack.shown.until(({ kind, title }) => kind === 'session' && title === 'Where is the map?');
});

test('X3 a tool on the Home tab opens its settings as a form', async (t) => {
  const { slack, anna, page } = await withHome(t);
  await slack.people.openHome(anna);
  await page(anna, /Settings of tools/);
  await slack.people.pressHome(anna, '🌐 Reading pages');
  const { view, user } = await slack.views.until(() => true);
  assert.equal(user, anna.id);
  assert.match(JSON.stringify(view), /These settings apply to this chat/);
  assert.deepEqual(slack.transcript(slack.workspace.dmWith(anna.id)), []);
});
