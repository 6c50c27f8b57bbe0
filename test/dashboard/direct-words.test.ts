import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operateHere } from '../support/operate-here.ts';
import { isRun, stepsOf } from '../support/call-steps.ts';
import { obedient } from '../support/obedient-model.ts';
import { enter, openDashboard } from '../support/visit-dashboard.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const toml = `[bot]
owner = ["telegram:7"]
timezone = "Europe/Berlin"
[access]
dm = "open"
groups_mode = "open"
group_users = ["*"]
[policy]
approvers = ["telegram:7"]
[[policy.rules]]
tool = "write_file"
action = "confirm"
[audit]
arguments = true
`;
const secret = 'zebra-4711';
const report = '---\nname: report\ndescription: Makes reports.\n---\nMake one.\n';

/** A run writes down what its task says. */
const script: NonNullable<WholeBotOptions['script']> = (body, index) => {
  const said = JSON.stringify(body.messages);
  if (isRun(body)) {
    const content = said.includes(secret) ? `the ${secret} plan` : 'the lunch plan';
    return stepsOf([{ name: 'write_file', input: { path: 'plan.txt', content } }], 'done')(body);
  }
  return said.includes('Is it raining')
    ? { status: 529, headers: { 'retry-after': '0' } }
    : obedient(body, index);
};

const sample = { since: '2000-01-01T00:00:00Z', most: 100, private: true };
/** What each operation that only reads is asked with. */
const inputs: Readonly<Record<string, unknown>> = {
  'audit tail': { lines: 200 },
  stats: '2000-01-01',
  rehearse: '2000-01-01T00:00:00Z',
  'rehearse sample': sample,
  'skill text': 'report',
  'access decisions': {
    ...{ sender: 'telegram:7', kind: 'person', channel: 'telegram', chat: '7' },
    ...{ chatType: 'private', external: false, addressed: true },
  },
};
/** An operator asks for one person's own notes (K6), or for the answer to which they gave a thumb down (U17). */
const own: ReadonlySet<string> = new Set(['memory list', 'feedback case']);

test('S8 K1 what a person says in a direct message is on no page and in no list for operators', async (t) => {
  const set = await startWholeBot(t, { toml, script, mostTries: 1, skills: { report } });
  const ann = set.telegram.person({ name: 'Ann' });
  const bob = set.telegram.person({ name: 'Bob' });
  const group = set.telegram.group({ title: 'Team' });
  ann.says(`DO remember {"text": "likes ${secret}"}`);
  await ann.dm.nextMessage(/Noted/);
  ann.says(`DO routine_add {"when": "every monday at 9:00", "task": "Say ${secret}"}`);
  await ann.dm.nextMessage(/Added the routine/);
  bob.says(`Is it raining on ${secret}?`);
  await bob.dm.nextMessage(/model/);
  ann.says(`/report ${secret}`);
  const question = await ann.dm.nextMessage(/wants to use/);
  assert.match(question.text, /zebra-4711/);
  ann.says('@test_bot Is it raining here?', { in: group });
  await group.nextMessage(/model/);
  ann.says('/report lunch', { in: group });
  await group.nextMessage(/needs a yes to use/);

  const visitor = await enter((await openDashboard(t, set, { acts: { as: 'telegram:7' } })).newLink());
  const { body: first } = await visitor.get('/');
  const pages = [...first.matchAll(/<a href="(\/[a-z]*)"/g)].map(([, path = '']) => path);
  assert.ok(pages.length >= 8);
  for (const page of pages) assert.ok(!(await visitor.get(page)).body.includes(secret), page);
  const turns = { conversation: `telegram:${ann.id}`, most: 50 };
  const turnsOfAnn = (await visitor.get(`/conversation?id=${encodeURIComponent(turns.conversation)}`)).body;
  assert.match(turnsOfAnn, /routine_add[^]*allowed/);
  assert.ok(!turnsOfAnn.includes(secret));
  assert.ok(!(await visitor.get('/audit.csv')).body.includes(secret));
  const { turns: sampled } = await set.bot.operate('rehearse sample', sample);
  assert.ok(sampled.some(({ transcript }) => transcript === turns.conversation));
  const operate = set.bot.operate as (name: string, input: unknown) => Promise<unknown>;
  for (const [name, { readOnly, input: wanted }] of (await operateHere(t)).rows) {
    // What needs an input and is not named above is about a person.
    const usual = wanted.safeParse(undefined).success ? undefined : turns.conversation;
    if (!readOnly || own.has(name)) continue;
    const asked: Readonly<Record<string, readonly unknown[]>> = {
      'inbox list': ['dead', 'waiting'],
      'turn list': [turns],
      'rehearse turn': sampled.map(({ transcript, item }) => ({ transcript, item, private: false })),
    };
    for (const input of asked[name] ?? [inputs[name] ?? usual])
      assert.ok(!JSON.stringify([await operate(name, input)]).includes(secret), name);
  }

  const letters = (await visitor.get('/letters')).body;
  assert.match(letters, /\(direct\) 28 characters/);
  assert.match(letters, /Is it raining here\?/, 'a group reads it anyway');
  const approvals = (await visitor.get('/approvals')).body;
  assert.match(approvals, /the lunch plan/);
  const [asked] = (await set.bot.operate('approval list')).filter(({ isDirect }) => isDirect);
  const blind = await visitor.post('/approvals/answer', { id: asked?.id ?? '', answer: 'approve' });
  assert.match(blind.body, /Only telegram:\d+ can approve this/);
  const denied = await visitor.post('/approvals/answer', { id: asked?.id ?? '', answer: 'deny' });
  assert.match(denied.body, /Denied by telegram:7/);
});
