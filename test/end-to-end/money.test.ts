import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { Person } from '../servers/telegram/person.ts';
import type { SentMessage } from '../servers/telegram/room.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

/** Only what is written costs something. These lines come behind `[models.default]`. */
const prices = 'price_in = 0\nprice_cache_read = 0\nprice_cache_write = 0\nprice_out = 10_000\n';
const toml = (limits: string, bot = 'owner = ["telegram:42"]'): string =>
  `${prices}[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nshutdown_seconds = 1\n${bot}\n${limits}`;
const dig = { dig: '---\nname: dig\ndescription: Digs.\n---\nDig.\n' };
const question = /May I spend more than a budget allows\?/;
const isRun = (body: MessagesRequest): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');

/** The results of calls since the last thing that a person said. */
function resultsIn({ messages }: MessagesRequest): number {
  const said = messages.findLastIndex(
    ({ role, content }) => role === 'user' && !/tool_result/.test(JSON.stringify(content)),
  );
  return messages.slice(said).filter(({ content }) => /"tool_result"/.test(JSON.stringify(content))).length;
}

let calls = 0;
const call = (name: string, input: object = {}) => ({
  content: [{ type: 'tool_use' as const, id: `toolu_${++calls}`, name, input }],
});

/** A model that looks at the list of skills three times, each time for about 17 cents, and answers for 5. */
const looker: NonNullable<WholeBotOptions['script']> = (body) =>
  resultsIn(body) < 3 ? call('skills_list') : 'Looked.';

/** A model that has the skill dig look, and passes on what came of it. */
const digger: NonNullable<WholeBotOptions['script']> = (body) => {
  if (isRun(body)) return resultsIn(body) < 3 ? call('list_files') : 'Dug.';
  const last = JSON.stringify(body.messages.at(-1));
  if (!/tool_result|<result|status/.test(last)) return call('use_skill', { skill: 'dig', message: 'Dig.' });
  return `It says: ${/(Dug\.|I stopped here[^"\\<]*)/.exec(last)?.[1] ?? last.replaceAll(/["\\]/g, ' ')}`;
};

/** Two people who know the bot. */
async function people(set: Awaited<ReturnType<typeof startWholeBot>>): Promise<readonly [Person, Person]> {
  const owen = set.telegram.person({ name: 'Owen', id: 42 });
  const ann = set.telegram.person({ name: 'Ann', id: 43 });
  owen.says('/start');
  await owen.dm.nextMessage();
  return [owen, ann];
}

/** What a question in a direct message has become. */
function becomes(
  set: Awaited<ReturnType<typeof startWholeBot>>,
  { dm }: Person,
  { id }: SentMessage,
): Promise<SentMessage> {
  return set.telegram.until('the question says what became of it', () =>
    dm.sent().find((sent) => sent.id === id && !question.test(sent.text)),
  );
}

test('G6 near a budget a turn asks the owner in private, and continues where it was after a yes', async (t) => {
  const set = await startWholeBot(t, {
    toml: toml('[limits]\nusd_per_day = 0.5\nextra_usd = 2'),
    script: looker,
  });
  const [owen, ann] = await people(set);
  ann.says('look');
  const asked = await owen.dm.nextMessage(question);
  assert.match(asked.text, /For: Ann/);
  assert.match(asked.text, /Budget: telegram:43, 0\.50 US dollars a day/);
  assert.match(asked.text, /Spent: 0\.3\d US dollars/);
  assert.match(
    asked.text,
    /Next step: about 0\.1\d US dollars\. All 24 steps that may follow: at most about 4\.\d\d/,
  );
  assert.deepEqual(asked.buttons, ['Allow 2 $', 'Stop']);
  await ann.dm.nextMessage(
    'The next step would pass a budget, so I asked those who decide about it. I continue as soon as they allow more.',
  );
  const before = set.messages.requests.length;
  owen.presses(asked.id, 'Allow 2 $');
  await ann.dm.nextMessage('Looked.');
  assert.equal(set.messages.requests.length, before + 2, 'no step is repeated');
  const outcome = await becomes(set, owen, asked);
  assert.match(outcome.text, /^Owen allowed 2 US dollars more\./);
  assert.deepEqual(outcome.buttons, []);
  // The yes holds for the rest of the day.
  ann.says('look again');
  await ann.dm.nextMessage('Looked.');
  const lines = (await set.bot.operate('audit tail', { lines: 50, kind: 'budget' })) as readonly string[];
  assert.equal(lines.length, 1);
  const { event, verdict, of, period, usd, requester, by } = JSON.parse(lines[0] ?? '') as Record<
    string,
    unknown
  >;
  assert.deepEqual(
    [event, verdict, of, period, usd, requester, by],
    ['budget', 'allowed', 'sender', 'day', 2, 'telegram:43', 'telegram:42'],
  );
});

test('G6 after a no the work ends with what it has and says why; that question is not asked again', async (t) => {
  const set = await startWholeBot(t, { toml: toml('[limits]\nusd_per_month = 0.5'), script: looker });
  const [owen, ann] = await people(set);
  ann.says('look');
  const asked = await owen.dm.nextMessage(question);
  owen.presses(asked.id, 'Stop');
  const ended = await ann.dm.nextMessage(/I stopped here/);
  assert.match(
    ended.text,
    /^I stopped here, because the next step would pass a budget\. It resets in .+\. I asked for more money for it, and the answer was no\. Budget: your own, 0\.50 US dollars a month\. Spent: 0\.3\d US dollars\.$/,
  );
  assert.match((await becomes(set, owen, asked)).text, /^Owen allowed no more, so the work ends\./);
  ann.says('look again');
  await ann.dm.nextMessage(/I stopped here.*the answer was no/);
  assert.equal(owen.dm.sent().filter(({ text }) => /Budget: telegram:43/.test(text)).length, 1);
  const lines = (await set.bot.operate('audit tail', { lines: 50, kind: 'budget' })) as readonly string[];
  assert.match(lines[0] ?? '', /"verdict":"refused"/);
});

test('G6 a run of a skill asks, too, and its end at a budget reaches the person', async (t) => {
  const limits = '[limits]\nusd_per_day = 0\n[limits.skill]\nusd_per_day = 0.4';
  for (const [press, said] of [
    ['Allow 1 $', /^It says: Dug\./],
    ['Stop', /^It says: I stopped here, because the next step would pass a budget/],
  ] as const) {
    const set = await startWholeBot(t, { toml: toml(limits), skills: dig, script: digger });
    const [owen, ann] = await people(set);
    ann.says('dig');
    const asked = await owen.dm.nextMessage(question);
    assert.match(asked.text, /For: Ann, dig/);
    assert.match(asked.text, /Budget: dig, 0\.40 US dollars a day/);
    owen.presses(asked.id, press);
    await ann.dm.nextMessage(said);
  }
});

test('G6 a run in the background that waits for money is listed as one that waits for a yes', async (t) => {
  const limits = '[limits]\nusd_per_day = 0\n[limits.skill]\nusd_per_day = 0.4';
  const set = await startWholeBot(t, { toml: toml(limits), skills: dig, script: digger });
  const [owen, ann] = await people(set);
  ann.says('/dig');
  const asked = await owen.dm.nextMessage(question);
  const { tasks, approvals } = await set.bot.operate('status');
  assert.deepEqual([tasks.map(({ skill, state }) => [skill, state]), approvals], [[['dig', 'asking']], 1]);
  ann.says('/tasks');
  await ann.dm.nextMessage(/dig, for Ann, waiting for a yes since/);
  owen.presses(asked.id, 'Stop');
  await ann.dm.nextMessage(/I stopped here/);
});

test('G6 nobody is asked where extra_usd is 0 or no owner can be reached: the work ends at once', async (t) => {
  for (const given of [
    toml('[limits]\nusd_per_day = 0.5\nextra_usd = 0'),
    toml('[limits]\nusd_per_day = 0.5', ''),
  ]) {
    const set = await startWholeBot(t, { toml: given, script: looker });
    const ann = set.telegram.person({ name: 'Ann', id: 43 });
    ann.says('look');
    const { text } = await ann.dm.nextMessage(/I stopped here/);
    assert.match(
      text,
      /It resets in .+\. Budget: your own, 0\.50 US dollars a day\. Spent: 0\.3\d US dollars\.$/,
    );
  }
});

test('G6 a question for money is answered by words with its code, in private alone and by owners alone', async (t) => {
  const set = await startWholeBot(t, {
    toml: toml('[limits]\nusd_per_month = 0.5'),
    script: (body, index) =>
      /yes \w{8}/.test(JSON.stringify(body.messages)) ? 'What?' : looker(body, index),
  });
  const [owen, ann] = await people(set);
  const room = set.telegram.group({ title: 'Team' });
  const ask = async (): Promise<readonly [SentMessage, string]> => {
    ann.says('look');
    const asked = await owen.dm.nextMessage(question);
    const [, code = ''] = /Press a button, or reply yes (\w{8}) \/ no \w{8}\./.exec(asked.text) ?? [];
    return [asked, code];
  };
  const [first, code] = await ask();
  ann.says(`yes ${code}`);
  await ann.dm.nextMessage('Only an owner or an approver can decide that.');
  // A group does not know the question.
  owen.says(`@test_bot yes ${code}`, { in: room });
  await room.nextMessage('What?');
  const open = async (): Promise<number> => (await set.bot.operate('money list')).length;
  assert.equal(await open(), 1);
  owen.says(`Ja ${code.toLowerCase()}`);
  assert.match((await becomes(set, owen, first)).text, /^Owen allowed 1 US dollars more\./);
  await ann.dm.nextMessage('Looked.');
  owen.says(`no ${code}`);
  await owen.dm.nextMessage(/^Owen allowed 1 US dollars more\.[^]*Budget: telegram:43/);
  ann.says('look');
  await ann.dm.nextMessage('Looked.');
  const [second, next] = await ask();
  assert.notEqual(next, code);
  owen.says(`no ${next}`);
  await ann.dm.nextMessage(/I stopped here.*the answer was no/);
  assert.match((await becomes(set, owen, second)).text, /^Owen allowed no more/);
});

test('G6 on Slack, too, a question for money is answered by words with its code, in private alone and by owners alone', async (t) => {
  const set = await startWholeBot(t, {
    channels: ['slack'],
    toml: toml('[limits]\nusd_per_month = 0.5', 'owner = ["slack:U00000004"]'),
    script: (body, index) =>
      /yes \w{8}/.test(JSON.stringify(body.messages)) ? 'What?' : looker(body, index),
  });
  const { people: says, posted, workspace } = set.slack;
  const [owen, ann] = [workspace.addUser('owen'), workspace.addUser('ann')];
  assert.equal(owen.id, 'U00000004');
  const room = workspace.addRoom('channel', { members: [owen.id, ann.id] });
  await says.dm(owen, '/start').delivered;
  const [owens, anns] = [owen, ann].map(({ id }) => workspace.dmWith(id).id);
  const hears = (channel: string | undefined, text: RegExp) =>
    posted((shown) => shown.channel === channel && text.test(shown.text));
  says.dm(ann, 'look');
  const asked = await hears(owens, question);
  const [, code = ''] = /Press a button, or reply `?yes (\w{8})/.exec(asked.text) ?? [];
  says.dm(ann, `yes ${code}`);
  await hears(anns, /^Only an owner or an approver can decide that\.$/);
  says.mention(owen, room, `yes ${code}`);
  await hears(room.id, /^What\?$/);
  assert.equal((await set.bot.operate('money list')).length, 1);
  says.dm(owen, `Ja ${code.toLowerCase()}`);
  await hears(anns, /^Looked\.$/);
  await hears(owens, /^`owen` allowed 1 US dollars more\./);
  assert.deepEqual(await set.bot.operate('money list'), []);
});

test('G6 /status shows the month’s budget of the person beside the day’s', async (t) => {
  const limits = '[limits]\nusd_per_day = 5\nusd_per_month = 20';
  const set = await startWholeBot(t, { toml: toml(limits), script: looker });
  const [owen, ann] = await people(set);
  ann.says('look');
  await ann.dm.nextMessage('Looked.');
  await set.bot.idle();
  ann.says('/status');
  const { text } = await ann.dm.nextMessage(/Your tokens today/);
  assert.match(text, /, 0\.\d\d of 5\.00 US dollars\s+This month: 0\.[1-9]\d of 20\.00 US dollars/);
  owen.says('/status');
  await owen.dm.nextMessage(/This month: 0\.\d\d of 20\.00 US dollars/);
  await set.reconfigure(toml('[limits]\nusd_per_day = 5'));
  await t.waitFor(
    () => assert.ok(set.log.lines.some(({ message }) => message === 'the config was changed')),
    { timeout: 60_000 },
  );
  ann.says('/status');
  assert.doesNotMatch((await ann.dm.nextMessage(/Your tokens today/)).text, /This month/);
});

test('G6 U16 in a group nobody reads figures of a budget, and an approver counts like an owner', async (t) => {
  const limits = '[policy]\napprovers = ["telegram:44"]\n[limits]\nusd_per_month = 0.5';
  const set = await startWholeBot(t, { toml: toml(limits, ''), script: looker });
  const ann = set.telegram.person({ name: 'Ann', id: 43 });
  const bea = set.telegram.person({ name: 'Bea', id: 44 });
  bea.says('/start');
  await bea.dm.nextMessage();
  ann.says('/start');
  await ann.dm.nextMessage();
  const room = set.telegram.group({ title: 'Team' });
  ann.says('@test_bot look', { in: room });
  bea.presses((await bea.dm.nextMessage(question)).id, 'Stop');
  const ended = await room.nextMessage(/I stopped here/);
  assert.match(ended.text, /the answer was no\.$/);
  for (const { text } of room.everSent()) assert.doesNotMatch(text, /0\.\d\d US dollars|%/);
});

test('G6 work of two people at the same budget shares one question, and one yes serves both', async (t) => {
  const limits =
    '[limits]\nusd_per_day = 0\n[limits.chat]\nusd_per_day = 0\n[limits.global]\nusd_per_day = 0.7';
  const set = await startWholeBot(t, { toml: toml(limits), script: looker });
  const [owen, ann] = await people(set);
  const bob = set.telegram.person({ name: 'Bob', id: 45 });
  ann.says('look');
  bob.says('look');
  const asked = await owen.dm.nextMessage(question);
  assert.match(asked.text, /Budget: everything together, 0\.70 US dollars a day/);
  await Promise.all([ann, bob].map(({ dm }) => dm.nextMessage(/so I asked those who decide/)));
  assert.equal(owen.dm.sent().filter(({ text }) => question.test(text)).length, 1);
  owen.presses(asked.id, 'Allow 1 $');
  await Promise.all([ann, bob].map(({ dm }) => dm.nextMessage('Looked.')));
});

test('G6 who stops the work withdraws the question, and a raised limit needs no answer', async (t) => {
  const set = await startWholeBot(t, { toml: toml('[limits]\nusd_per_day = 0.5'), script: looker });
  const [owen, ann] = await people(set);
  ann.says('look');
  const first = await owen.dm.nextMessage(question);
  await ann.dm.nextMessage(/so I asked those who decide/);
  ann.says('/stop');
  await ann.dm.nextMessage(/Stopped\./);
  assert.match(
    (await becomes(set, owen, first)).text,
    /^The work was stopped, so nobody has to decide this\./,
  );
  ann.says('look once more');
  const second = await owen.dm.nextMessage(question);
  await set.reconfigure(toml('[limits]\nusd_per_day = 5'));
  await ann.dm.nextMessage('Looked.');
  assert.match(
    (await becomes(set, owen, second)).text,
    /^The budget has room again, so nobody has to decide this\./,
  );
});

test('G6 owners and the person hear at 50, 80 and 95 % of a month’s budget, once each', async (t) => {
  const set = await startWholeBot(t, {
    toml: toml('[limits]\nusd_per_day = 0\nusd_per_month = 1\n[limits.chat]\nusd_per_day = 0'),
    script: () =>
      'Twenty-seven cents are what this answer costs, as it has as many words as that takes, no more.',
  });
  const [owen, ann] = await people(set);
  const told = (person: Person) =>
    person.dm.everSent().flatMap(({ text }) => /(\d+ %) of (?:a|your) budget/.exec(text)?.[1] ?? []);
  for (const _ of [1, 2]) {
    ann.says('more');
    await ann.dm.nextMessage(/Twenty-seven/);
  }
  await ann.dm.nextMessage('You have used 50 % of your budget of 1 US dollars a month.');
  assert.match(
    (await owen.dm.nextMessage(/50 %/)).text,
    /^50 % of a budget is used up: telegram:43, 1 US dollars a month\. Spent so far: 0\.\d\d US dollars\.$/,
  );
  await set.restart();
  ann.says('more');
  await ann.dm.nextMessage(/Twenty-seven/);
  await ann.dm.nextMessage(/used 80 %/);
  ann.says('more');
  await ann.dm.nextMessage(/Twenty-seven/);
  await ann.dm.nextMessage(/used 95 %/);
  await owen.dm.nextMessage(/95 %/);
  for (const person of [owen, ann]) assert.deepEqual(told(person), ['50 %', '80 %', '95 %']);
});

test('G6 /why says what a run and an answer can cost at most', async (t) => {
  const priced = prices
    .replace('price_in = 0', 'price_in = 3')
    .replace('price_out = 10_000', 'price_out = 15\ncontext_window = 100_000\nmax_tokens = 8_000');
  const skills = { dig: '---\nname: dig\ndescription: Digs.\nmax_iterations: 9\n---\nDig.\n' };
  const set = await startWholeBot(t, { toml: toml('').replace(prices, priced), skills, script: looker });
  const [owen] = await people(set);
  owen.says('/why telegram:43 dig');
  const ofRun = await owen.dm.nextMessage(/One run of dig/);
  // Ten calls of 0.30 for the window and 0.12 for what is written.
  assert.match(
    ofRun.text,
    /One run of dig costs at most 4\.20 US dollars, without other skills that it uses: 10 calls of default that each fill its window of 100,000 tokens\./,
  );
  owen.says('/why telegram:43');
  await owen.dm.nextMessage(
    /One answer costs at most 10\.92 US dollars, without the skills that it uses: 26 calls/,
  );
});
