import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callSteps } from '../support/call-steps.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const asking: WholeBotOptions = {
  toml: '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[policy]\nmoderate = "confirm"\n',
  skills: { report: '---\nname: report\ndescription: Makes reports.\nbackground: true\n---\nMake one.\n' },
  script: callSteps([{ name: 'write_file', input: { path: 'a.txt', content: 'x' } }]),
};
const codeIn = (text: string): string =>
  /([0-9A-Z]{8})\b/.exec(text.replace(/[^]*(?:reply|antworte)/, ''))?.[1] ?? '';
const refusal = /Only the person who asked/;

test('T8 H3 in a group each question answers the message that asked and names its person; their `yes CODE` needs no mention', async (t) => {
  const { telegram, messages } = await startWholeBot(t, asking);
  const room = telegram.group({ title: 'Team' });
  const [ann, bob] = [telegram.person({ name: 'Ann' }), telegram.person({ name: 'Bob' })];
  const first = ann.says('/report@test_bot one', { in: room });
  const second = bob.says('/report@test_bot two', { in: room });
  const ofAnn = await room.nextMessage(/^For Ann:\s+The skill report wants to use write_file/);
  const ofBob = await room.nextMessage(/^For Bob:\s+The skill report wants to use write_file/);
  assert.deepEqual([ofAnn.replyTo, ofBob.replyTo], [first, second]);
  const before = messages.requests.length;

  bob.says(`yes ${codeIn(ofAnn.text)}`, { in: room });
  ann.says('yes', { in: room });
  ann.says('yes 23456789', { in: room });
  ann.says(`yes ${codeIn(ofAnn.text)}`, { in: room, forwardedFrom: bob.user });
  ann.says(`no ${codeIn(ofAnn.text)}`, { in: room });
  const settled = await telegram.until('her question says so', () =>
    room.sent().find(({ id, text }) => id === ofAnn.id && text.startsWith('Denied by Ann')),
  );
  assert.match(settled.text, /^Denied by Ann: write_file of report\.\s+For Ann:\s+path/);
  bob.says(`yes ${codeIn(ofBob.text)}`, { in: room });
  await telegram.until('his question says so', () =>
    room.sent().find(({ id, text }) => id === ofBob.id && text.startsWith('Approved by Bob')),
  );
  // Too late, and still not for the bot.
  ann.says(`yes ${codeIn(ofAnn.text)}`, { in: room });
  room.setBot('administrator');
  ann.says('/whoami@test_bot', { in: room });
  await room.nextShownTo(ann, /^You: /);
  assert.equal(room.everSent().filter(({ text }) => refusal.test(text)).length, 0);
  assert.equal(room.everSent().filter(({ text }) => text.startsWith('Denied by Ann')).length, 1);
  const asked = messages.requests.slice(before).map(({ body }) => JSON.stringify(body.messages));
  assert.ok(!asked.some((words) => words.includes('23456789')));
});

test('T8 H3 with privacy mode a reply to the question is heard, in the words of its language', async (t) => {
  const { telegram } = await startWholeBot(t, { ...asking, privacy: true });
  const room = telegram.group({ title: 'Team' });
  const ann = telegram.person({ name: 'Ann', language: 'de' });
  ann.says('/report@test_bot', { in: room });
  const question = await room.nextMessage(/^Für Ann:/);
  const code = codeIn(question.text);
  assert.match(question.text, new RegExp(`antworte ja ${code} / nein ${code} / immer ${code}\\.$`));
  ann.says(`Ja ${code}`, { in: room, replyTo: question.id });
  await telegram.until('the question says so', () =>
    room.sent().find(({ id, text }) => id === question.id && text.startsWith('Freigegeben von Ann')),
  );
});

test('T8 H4 in a channel the question is in its thread and pings nobody; its `yes CODE` needs no mention', async (t) => {
  const { slack } = await startWholeBot(t, { ...asking, channels: ['slack'] });
  const anna = slack.workspace.addUser('anna');
  const bert = slack.workspace.addUser('bert');
  const room = slack.workspace.addRoom('channel', { members: [anna.id, bert.id] });
  const asked = slack.people.mention(anna, room, '/report');
  const question = await slack.posted(({ text }) => text.includes('wants to use'));
  assert.equal(question.threadTs, asked.ts);
  assert.match(question.text, /^For `anna`:/);
  assert.doesNotMatch(JSON.stringify(question), /<@|@anna/);
  const code = codeIn(question.text);
  await slack.people.post(bert, room, `yes ${code}`, { thread: asked.ts }).delivered;
  await slack.people.post(anna, room, `&gt; yes ${code}`, { thread: asked.ts }).delivered;
  await slack.people.post(anna, room, `yes ${code}`).delivered;
  assert.ok(!slack.changes.all().some(({ message }) => /Approved|Only the person/.test(message.text)));
  await slack.people.post(anna, room, `\`yes ${code}\``, { thread: asked.ts }).delivered;
  await slack.changes.until(({ message }) => /^Approved by `anna`/.test(message.text));
  assert.ok(!slack.changes.all().some(({ message }) => /Only the person/.test(message.text)));
});
