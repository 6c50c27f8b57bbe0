import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter, openDashboard } from '../support/visit-dashboard.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

/** Each of Ann's steps costs about 17 cents, so the fourth would pass her budget. */
const toml = `price_in = 0
price_cache_read = 0
price_cache_write = 0
price_out = 10_000
[access]
dm = "open"
[bot]
owner = ["telegram:42"]
[policy]
approvers = ["telegram:44"]
[limits]
usd_per_day = 0.5
extra_usd = 2
`;

let calls = 0;
const looker: NonNullable<WholeBotOptions['script']> = ({ messages }) => {
  const results = messages.filter(({ content }) => JSON.stringify(content).includes('"tool_result"')).length;
  return results < 3
    ? { content: [{ type: 'tool_use', id: `toolu_${++calls}`, name: 'skills_list', input: {} }] }
    : 'Looked.';
};

/** The text of a page. */
const textOf = (page: string): string => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

test('G6 operators see what asks for money and count it, and who is named by --as answers like by a press', async (t) => {
  const set = await startWholeBot(t, { toml, script: looker });
  const owen = set.telegram.person({ name: 'Owen', id: 42 });
  const ann = set.telegram.person({ name: 'Ann', id: 43 });
  const visit = async (as: string) => enter((await openDashboard(t, set, { acts: { as } })).newLink());
  const owner = await visit('telegram:42');
  assert.match((await owner.get('/approvals')).body, /Nothing waits for a yes/);
  owen.says('/start');
  await owen.dm.nextMessage();
  const bea = set.telegram.person({ name: 'Bea', id: 44 });
  bea.says('/start');
  await bea.dm.nextMessage();
  ann.says('look');
  const question = await owen.dm.nextMessage(/May I spend more/);
  const [asked = assert.fail('nothing is listed')] = await set.bot.operate('money list');
  assert.deepEqual([asked.requester, asked.conversation, asked.usd], ['telegram:43', 'telegram:43', 2]);
  assert.equal((await set.bot.operate('status')).approvals, 1);

  const { body } = await owner.get('/approvals');
  const page = textOf(body);
  assert.match(page, /An answer would pass a budget For Ann .*expires .*An owner or an approver decides\./);
  assert.match(
    page,
    /Budget: telegram:43, 0\.50 US dollars a day ?\. Spent: \$0\.3\d\. The next step costs about \$0\.1\d, all 24 that may follow at most about \$4\.\d\d\. A yes adds \$2\.00\./,
  );
  assert.match(body, /<title>\(1\)/, 'the tab counts it');
  assert.match(textOf((await owner.get('/')).body), /1 approval /);
  assert.match(body, /Allow \$2\.00/);

  const answer = { id: asked.id, answer: 'allow' };
  const stranger = await visit('telegram:43');
  assert.match(
    (await stranger.post('/money/answer', answer)).body,
    /Only an owner or an approver can decide/,
  );
  const looking = await enter((await openDashboard(t, set)).newLink());
  assert.doesNotMatch((await looking.get('/approvals')).body, /Allow \$2\.00/);
  await looking.post('/money/answer', answer);
  assert.equal((await set.bot.operate('money list')).length, 1, 'nobody has answered yet');

  const approver = await visit('telegram:44');
  const taken = await approver.post('/money/answer', answer);
  assert.match(textOf(taken.body), /telegram:44 allowed 2 US dollars more\./);
  await ann.dm.nextMessage('Looked.');
  await set.telegram.until('the question says what became of it', () =>
    owen.dm.sent().find(({ id, text }) => id === question.id && /allowed 2 US dollars more/.test(text)),
  );
  assert.deepEqual(await set.bot.operate('money list'), []);
  const late = await owner.post('/money/answer', { ...answer, answer: 'stop' });
  assert.match(textOf(late.body), /telegram:44 allowed 2 US dollars more\./, 'a second answer is late');
  const [line = ''] = (await set.bot.operate('audit tail', {
    lines: 50,
    kind: 'budget',
  })) as readonly string[];
  assert.match(line, /"verdict":"allowed".*"by":"telegram:44"/);
});
