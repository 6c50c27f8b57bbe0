import assert from 'node:assert/strict';
import { test } from 'node:test';
import { obedient } from '../support/obedient-model.ts';
import { openDetails } from '../support/open-details.ts';
import { openCliHome } from '../support/run-cli.ts';
import { enter, openDashboard } from '../support/visit-dashboard.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const toml =
  '[bot]\nowner = ["telegram:1001"]\n[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n';

test('S8 K1 L6 the page of memory counts notes and shows those of the team alone, which --act removes', async (t) => {
  const set = await startWholeBot(t, { toml, script: obedient });
  const olga = set.telegram.person({ name: 'Olga', id: 1001 });
  const ann = set.telegram.person({ name: 'Ann', id: 1002 });
  const group = set.telegram.group();
  ann.says('DO remember {"text": "canary of Ann"}');
  await ann.dm.nextMessage(/Noted as/);
  ann.says('@test_bot\nDO remember {"text": "canary of the group"}', { in: group });
  await group.nextMessage(/Noted as/);
  ann.says('@test_bot\nDO remember {"text": "the office is in <b>Bern", "scope": "team"}', { in: group });
  const question = await group.nextMessage(/needs? a yes to use/);
  olga.pressesAlone((await openDetails(olga, question, group)).id, 'Approve', group);
  await group.nextMessage(/Noted as/);

  const reader = await enter((await openDashboard(t, set)).newLink());
  const shown = (await reader.get('/memory')).body;
  const words = (body: string): string => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  assert.match(words(shown), /of people, .* 1 of chats 1 of the team, for everybody 1 /);
  assert.match(words(shown), /the office is in &#60;b&#62;Bern \w+ Ann /);
  assert.doesNotMatch(shown, /canary|<form method/);
  const { team } = await set.bot.operate('memory team');
  const own = await set.bot.operate('memory list', 'telegram:1002');
  assert.equal(own.length, 3);
  const [note] = team;
  assert.equal((await reader.post('/memory/remove', { id: note?.id ?? '' })).status, 403);

  const actor = await enter((await openDashboard(t, set, { acts: { as: 'telegram:7' } })).newLink());
  for (const { id } of own.filter((one) => one.id !== note?.id)) {
    const refused = await actor.post('/memory/remove', { id });
    assert.match(refused.body, /there is no note \w+ of the team: see &#96;skillet memory team/);
  }
  const removed = await actor.post('/memory/remove', { id: note?.id ?? '' });
  assert.match(removed.body, /The note \w+ is removed\./);
  assert.match(removed.body, /No notes of the team\./);
  assert.equal((await set.bot.operate('memory list', 'telegram:1002')).length, 2);
  const [line = '{}'] = await set.bot.operate('audit tail', { lines: 1, kind: 'memory' });
  const { verdict, memory, sender, by } = JSON.parse(line) as Readonly<Record<string, string>>;
  assert.deepEqual([verdict, memory, sender, by], ['removed', note?.id, 'telegram:1002', 'telegram:7']);
});

test('S8 L1 skillet memory team prints the counts, and memory remove names a note that is not there', async (t) => {
  const home = await openCliHome(t);
  assert.equal((await home.run(['memory', 'team'])).stdout, '0 notes of people, 0 of chats, 0 of the team\n');
  const gone = await home.run(['memory', 'remove', 'abc']);
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /there is no note abc of the team/);
});
