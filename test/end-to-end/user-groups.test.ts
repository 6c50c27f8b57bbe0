import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const payroll = '---\nname: payroll\ndescription: Tells salaries.\n---\nTell it.\n';
const closed = '[access]\ndm = "allowlist"\n';
const named = `[groups.finance]
members = ["slack:usergroup:SFIN"]
[access]
dm = "allowlist"
users = ["group:finance", "slack:usergroup:SGONE"]
[skills.payroll]
allow_users = ["group:finance"]
`;

test('A13 A9 G3 who is in a Slack user group may talk and use what names it, once the config says so; nobody else, and nobody of a group that Slack does not tell', async (t) => {
  const { slack, log, reconfigure, messages } = await startWholeBot(t, {
    toml: closed,
    skills: { payroll },
    channels: ['slack'],
    script: (body) => (/payroll/.test(JSON.stringify(body.system)) ? 'Hello, finance.' : 'Hello.'),
  });
  const [anna, eve] = [slack.workspace.addUser('anna'), slack.workspace.addUser('eve')];
  slack.workspace.userGroups.set('SFIN', new Set([anna.id]));
  await reconfigure(named);
  await log.line(({ message }) => message === 'the config was changed');
  await slack.people.dm(eve, 'hello').delivered;
  slack.people.dm(anna, 'hello');
  const answer = await slack.posted(({ text }) => text.startsWith('Hello'));
  assert.equal(answer.text, 'Hello, finance.');
  assert.ok(slack.workspace.rooms.get(answer.channel)?.members.has(anna.id));
  await log.line(({ message }) => message.includes('user group could not be read'));
  await slack.idle();
  assert.equal(messages.requests.length, 1, 'Eve is not answered');
});
