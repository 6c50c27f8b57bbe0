import assert from 'node:assert/strict';
import { test } from 'node:test';
import { neededScopes } from '../../src/channels/slack/identify.ts';
import { startWholeBot } from '../support/whole-bot.ts';

test('H13 an owner is told once that privacy mode is on, and how to change that', async (t) => {
  const set = await startWholeBot(t, { privacy: true });
  const owner = set.telegram.person({ name: 'Olga', id: 1001 });
  owner.says('/start');
  await owner.dm.nextMessage(/pairing code/);
  await set.reconfigure('[bot]\nowner = ["telegram:1001"]\n');
  const now = await set.restart();
  const notice = await owner.dm.nextMessage(/privacy mode/);
  assert.match(notice.text, /\/setprivacy.*BotFather.*add me again/s);
  const again = await now.restart();
  owner.says('/whoami');
  await owner.dm.nextMessage(/1001/);
  await again.bot.idle();
  const told = owner.dm.everSent().filter(({ texts }) => /privacy mode/.test(texts[0] ?? ''));
  assert.equal(told.length, 1);
});

test('H13 H14 an owner is told once, in their language, which scopes the Slack app lacks', async (t) => {
  const scopes = [...neededScopes.keys()].filter((scope) => scope !== 'files:write');
  const set = await startWholeBot(t, { channels: ['slack'], scopes, script: () => 'Here.' });
  const { slack } = set;
  const olga = slack.workspace.addUser('olga', { locale: 'de-DE' });
  await set.reconfigure(`[bot]\nowner = ["slack:${olga.id}"]\n[access]\ngroups_mode = "open"\n`);
  await set.log.line(({ message }) => message === 'the config was changed');
  await slack.people.dm(olga, '!whoami').delivered;
  await slack.posted(({ text }) => text.includes(olga.id));
  const again = await set.restart();
  const notice = await slack.posted(({ text }) => text.includes('Scopes'));
  assert.match(notice.text, /`files:write`: Dateien senden\n.*installiere die App dann neu/s);
  await (await again.restart()).bot.idle();
  const told = slack.changes.all().filter(({ message }) => message.text.includes('files:write'));
  assert.equal(told.length, 1);
});
