import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callSteps } from '../support/call-steps.ts';
import type { Person } from '../servers/telegram/person.ts';
import type { Chat } from '../servers/telegram/room.ts';
import { openDetails } from '../support/open-details.ts';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const asking: WholeBotOptions = {
  toml: '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[policy]\nmoderate = "confirm"\n',
  skills: { report: '---\nname: report\ndescription: Makes reports.\nbackground: true\n---\nMake one.\n' },
  script: callSteps([{ name: 'write_file', input: { path: 'a.txt', content: 'x' } }]),
};
const codeIn = (text: string): string =>
  /([0-9A-Z]{8})\b/.exec(text.replace(/[^]*(?:reply|antworte)/, ''))?.[1] ?? '';
const refusal = /Only the person who asked/;

const neutral = (name: string): RegExp =>
  new RegExp(`^For ${name}:\\s+The skill report needs a yes to use write_file\\.$`);

test('T8 U16 H3 in a group everybody reads who needs a yes for what, and who may answer sees the rest alone; a typed answer needs no mention', async (t) => {
  const { telegram, messages } = await startWholeBot(t, asking);
  const room = telegram.group({ title: 'Team' });
  const [ann, bob] = [telegram.person({ name: 'Ann' }), telegram.person({ name: 'Bob' })];
  const first = ann.says('/report@test_bot one', { in: room });
  const second = bob.says('/report@test_bot two', { in: room });
  const ofAnn = await room.nextMessage(neutral('Ann'));
  const ofBob = await room.nextMessage(neutral('Bob'));
  assert.deepEqual([ofAnn.replyTo, ofBob.replyTo], [first, second]);
  assert.deepEqual(ofAnn.buttons, ['Details']);
  const before = messages.requests.length;

  const foreign = bob.presses(ofAnn.id, 'Details', room);
  assert.match((await telegram.until('a word on the press', () => foreign.text())) ?? '', refusal);
  const hers = await openDetails(ann, ofAnn, room);
  assert.match(hers.text, /^The skill report wants to use write_file:\s+path\s+a\.txt\s+content\s+x/);
  assert.deepEqual(hers.buttons, ['Approve', 'Deny', 'Always']);
  assert.deepEqual(room.shownTo(bob), []);
  bob.says(`yes ${codeIn(hers.text)}`, { in: room });
  ann.says('yes', { in: room });
  ann.says('yes 23456789', { in: room });
  ann.says(`yes ${codeIn(hers.text)}`, { in: room, forwardedFrom: bob.user });
  ann.says(`no ${codeIn(hers.text)}`, { in: room });
  const settled = await telegram.until('her question says so', () =>
    room.sent().find(({ id, text }) => id === ofAnn.id && text.startsWith('Denied by Ann')),
  );
  assert.equal(settled.text, 'Denied by Ann: write_file of report.');
  assert.deepEqual(settled.buttons, []);
  const outcome = await telegram.until('what she alone sees says so', () =>
    room.shownTo(ann).find(({ id, text }) => id === hers.id && text.startsWith('Denied by Ann')),
  );
  assert.match(outcome.text, /^Denied by Ann: write_file of report\.\s+For Ann:\s+path/);
  assert.deepEqual(outcome.buttons, []);
  const his = await openDetails(bob, ofBob, room);
  bob.pressesAlone(his.id, 'Approve', room);
  await telegram.until('his question says so', () =>
    room.sent().find(({ id, text }) => id === ofBob.id && text === 'Approved by Bob: write_file of report.'),
  );
  // Too late, and still not for the bot.
  ann.says(`yes ${codeIn(hers.text)}`, { in: room });
  room.setBot('administrator');
  ann.says('/whoami@test_bot', { in: room });
  await room.nextShownTo(ann, /^You: /);
  const read = room.everSent().flatMap(({ texts }) => texts);
  assert.ok(!read.some((text) => refusal.test(text) || /a\.txt|content|[0-9A-Z]{8}/.test(text)), read.join());
  assert.equal(read.filter((text) => text.startsWith('Denied by Ann')).length, 1);
  const asked = messages.requests.slice(before).map(({ body }) => JSON.stringify(body.messages));
  assert.ok(!asked.some((words) => words.includes('23456789')));
});

/** What was said in the group before is stored as sent once a later answer is there. */
async function settled(person: Person, room: Chat): Promise<void> {
  person.says('/whoami@test_bot', { in: room });
  await room.nextShownTo(person, 'telegram:');
}

test('T8 U16 a yes in words counts once the person was shown what they approve; a no counts at once', async (t) => {
  const { telegram } = await startWholeBot(t, asking);
  const room = telegram.group({ title: 'Team' });
  room.setBot('administrator');
  const ann = telegram.person({ name: 'Ann' });
  ann.says('/report@test_bot', { in: room });
  const question = await room.nextMessage(neutral('Ann'));
  await settled(ann, room);
  ann.says('@test_bot yes', { in: room });
  await room.nextShownTo(ann, /^Press Details below my question first/);
  assert.match(room.sent().find(({ id }) => id === question.id)?.text ?? '', neutral('Ann'));
  await openDetails(ann, question, room);
  await settled(ann, room);
  ann.says('@test_bot yes', { in: room });
  await telegram.until('the question says so', () =>
    room.sent().find(({ id, text }) => id === question.id && text.startsWith('Approved by Ann')),
  );
  ann.says('/report@test_bot again', { in: room });
  const second = await room.nextMessage(neutral('Ann'));
  await settled(ann, room);
  ann.says('@test_bot no', { in: room });
  await telegram.until('the question says so', () =>
    room.sent().find(({ id, text }) => id === second.id && text.startsWith('Denied by Ann')),
  );
});

test('T8 U16 what a group can’t show to one person comes as a direct message, where buttons and codes answer for the group', async (t) => {
  const { telegram } = await startWholeBot(t, asking);
  const room = telegram.group({ title: 'Team' });
  const ann = telegram.person({ name: 'Ann' });
  const refuse = (): void =>
    telegram.faults.add({
      method: 'sendMessage',
      status: { code: 400, description: 'Bad Request: USER_NOT_PARTICIPANT' },
    });
  const ask = async () => {
    ann.says('/report@test_bot', { in: room });
    return room.nextMessage(neutral('Ann'));
  };
  const says = (question: Readonly<{ id: number }>, match: RegExp) =>
    telegram.until('the question says so', () =>
      room.sent().find(({ id, text }) => id === question.id && match.test(text)),
    );
  const first = await ask();
  // With the press and without it.
  refuse();
  refuse();
  ann.presses(first.id, 'Details', room);
  await room.nextMessage('I can say that only in a direct message.');
  ann.says('/whoami');
  const shown = await ann.dm.nextMessage(/The skill report wants to use write_file/);
  await ann.dm.nextMessage(/^You: /);
  ann.presses(shown.id, 'Approve');
  await says(first, /^Approved by Ann: write_file of report\.$/);
  await telegram.until('the direct message says so', () =>
    ann.dm
      .sent()
      .find(({ id, text, buttons }) => id === shown.id && /^Approved/.test(text) && buttons.length === 0),
  );
  const second = await ask();
  refuse();
  refuse();
  ann.presses(second.id, 'Details', room);
  const again = await ann.dm.nextMessage(/The skill report wants to use write_file/);
  ann.says('/whoami');
  await ann.dm.nextMessage(/^You: /);
  ann.says(`no ${codeIn(again.text)}`);
  await says(second, /^Denied by Ann/);
  const third = await ask();
  refuse();
  refuse();
  ann.presses(third.id, 'Details', room);
  const last = await ann.dm.nextMessage(/The skill report wants to use write_file/);
  ann.says('/whoami');
  await ann.dm.nextMessage(/^You: /);
  ann.leaves(room);
  const pressed = ann.presses(last.id, 'Approve');
  assert.match((await telegram.until('a word', () => pressed.text())) ?? '', /This button has expired/);
  const read = room.everSent().flatMap(({ texts }) => texts);
  assert.ok(!read.some((text) => /a\.txt|content|[0-9A-Z]{8}/.test(text)), read.join());
});

test('T8 U16 what is too long for one message comes whole as a direct message, with a file if it is very long', async (t) => {
  const content = Array.from({ length: 9_000 }, (_, index) => `line ${index}`).join('\n');
  const { telegram } = await startWholeBot(t, {
    ...asking,
    flood: false,
    script: callSteps([{ name: 'write_file', input: { path: 'a.txt', content } }]),
  });
  const room = telegram.group({ title: 'Team' });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('/whoami');
  await ann.dm.nextMessage(/^You: /);
  ann.says('/report@test_bot', { in: room });
  const question = await room.nextMessage(neutral('Ann'));
  ann.presses(question.id, 'Details', room);
  const { file } = await ann.dm.nextFile();
  assert.ok(file.bytes.includes('line 8999'));
  await room.nextMessage('I answered you in a direct message.');
  const buttons = ann.dm.sent().find((sent) => sent.buttons.includes('Approve')) ?? assert.fail();
  ann.presses(buttons.id, 'Approve');
  await telegram.until('the question says so', () =>
    room.sent().find(({ id, text }) => id === question.id && text.startsWith('Approved by Ann')),
  );
  assert.ok(!room.everSent().some(({ text }) => text.includes('line 1')));
});

test('T8 H3 U16 with privacy mode a reply to the question is heard, in the words of its language', async (t) => {
  const { telegram } = await startWholeBot(t, { ...asking, privacy: true });
  const room = telegram.group({ title: 'Team' });
  const ann = telegram.person({ name: 'Ann', language: 'de' });
  ann.says('/report@test_bot', { in: room });
  const question = await room.nextMessage(/^Für Ann:/);
  const shown = await openDetails(ann, question, room, question.buttons[0]);
  const code = codeIn(shown.text);
  room.setBot('administrator');
  await settled(ann, room);
  assert.match(shown.text, new RegExp(`antworte ja ${code} / nein ${code} / immer ${code}\\.$`));
  ann.says(`Ja ${code}`, { in: room, replyTo: question.id });
  await telegram.until('the question says so', () =>
    room.sent().find(({ id, text }) => id === question.id && text.startsWith('Freigegeben von Ann')),
  );
});

test('T8 H4 U16 in a channel the question is in its thread and pings nobody; its details are for one, and `yes CODE` needs no mention', async (t) => {
  const { slack } = await startWholeBot(t, { ...asking, channels: ['slack'] });
  const anna = slack.workspace.addUser('anna');
  const bert = slack.workspace.addUser('bert');
  const room = slack.workspace.addRoom('channel', { members: [anna.id, bert.id] });
  const asked = slack.people.mention(anna, room, '/report');
  const question = await slack.posted(({ text }) => text.includes('needs a yes to use'));
  assert.equal(question.threadTs, asked.ts);
  assert.match(question.text, /^For `anna`:/);
  assert.doesNotMatch(JSON.stringify(question), /<@|@anna|a\.txt/);
  const details = slack.shown.until(({ text }) => String(text).includes('wants to use'));
  await slack.people.press(bert, question, 'Details');
  await slack.shown.until(({ user, text }) => user === bert.id && refusal.test(String(text)));
  await slack.people.press(anna, question, 'Details');
  const shown = await details;
  assert.deepEqual([shown['kind'], shown['user']], ['ephemeral', anna.id]);
  const code = codeIn(String(shown['text']));
  await slack.people.post(bert, room, `yes ${code}`, { thread: asked.ts }).delivered;
  await slack.people.post(anna, room, `&gt; yes ${code}`, { thread: asked.ts }).delivered;
  await slack.people.post(anna, room, `yes ${code}`).delivered;
  assert.ok(!slack.changes.all().some(({ message }) => /Approved|Only the person/.test(message.text)));
  await slack.people.post(anna, room, `\`yes ${code}\``, { thread: asked.ts }).delivered;
  await slack.changes.until(({ message }) => /^Approved by `anna`/.test(message.text));
  assert.ok(!slack.changes.all().some(({ message }) => /Only the person|a\.txt/.test(message.text)));
  const again = slack.people.mention(anna, room, '/report');
  const second = await slack.posted(
    ({ text, threadTs }) => threadTs === again.ts && text.includes('needs a yes to use'),
  );
  await slack.people.press(anna, second, 'Details');
  const own = await slack.shown.until(
    ({ text }) => /wants to use/.test(String(text)) && !String(text).includes(code),
  );
  await slack.people.pressAlone(anna, own, 'Deny');
  await slack.changes.until(({ message }) => /^Denied by `anna`/.test(message.text));
});
