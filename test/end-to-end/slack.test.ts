import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot, type WholeBotOptions } from '../support/whole-bot.ts';

const lookup = '---\nname: lookup\ndescription: Looks things up.\n---\nLook it up and say what you found.\n';
const gmail = '---\nname: gmail\ndescription: Reads mail.\nsensitive: true\n---\nRead the mail.\n';

const onSlack = (more: Omit<WholeBotOptions, 'channels'>): WholeBotOptions => ({
  toml: '[access]\nusers = ["slack:*"]\ngroups_mode = "open"\n',
  ...more,
  channels: ['slack'],
});
const isRun = (body: { system?: unknown }): boolean =>
  JSON.stringify(body.system).includes('You carry out the skill');

test('H4 Q2 a mention is answered once, in its thread, and its reply without a mention goes on there', async (t) => {
  const { slack, messages } = await startWholeBot(
    t,
    onSlack({ script: ['*Noon*, see [time](https://example.org).', 'Still noon.'] }),
  );
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const asked = slack.people.mention(anna, room, 'what time is it?');
  const answer = await slack.posted((message) => message.threadTs === asked.ts);
  assert.match(JSON.stringify(answer.blocks), /example\.org/);
  await asked.delivered;
  const more = slack.people.post(anna, room, 'and now?', { thread: asked.ts });
  await slack.posted((message) => message.text.includes('Still noon'));
  await more.delivered;
  await slack.idle();
  assert.equal(messages.requests.length, 2);
  assert.match(JSON.stringify(messages.requests[1]!.body.messages), /what time is it/);
});

test('H4 a direct message is answered directly; a stranger of another workspace is not admitted', async (t) => {
  const { slack, messages } = await startWholeBot(t, onSlack({ script: ['Hello Anna.'] }));
  const anna = slack.workspace.addUser('anna');
  const guest = slack.workspace.addUser('gus', { team: 'T0OTHER' });
  const room = slack.workspace.addRoom('channel', { members: [anna.id, guest.id], external: true });
  await slack.people.mention(guest, room, 'let me in').delivered;
  await slack.people.dm(anna, 'hello').delivered;
  const answer = await slack.posted();
  assert.match(answer.text, /Hello Anna/);
  assert.equal(answer.channel, slack.workspace.dmWith(anna.id).id);
  assert.equal(messages.requests.length, 1);
});

test('U13 a direct message shows at once that it is worked on', async (t) => {
  const held = Promise.withResolvers<void>();
  const script = () => ({
    content: [{ type: 'text' as const, text: 'Hello.' }],
    wire: { hold: held.promise, holdBefore: 1 },
  });
  const { slack } = await startWholeBot(t, onSlack({ script }));
  const said = slack.people.dm(slack.workspace.addUser('anna'), 'hello');
  await slack.shown.until(({ kind, ts }) => kind === 'reaction' && ts === said.ts);
  held.resolve();
  await slack.posted(({ text }) => text === 'Hello.');
  await slack.shown.until(({ change, ts }) => change === 'removed' && ts === said.ts);
});

test('M11 the model reads a forward whose words are only in blocks, in the message and in a thread that it is called into', async (t) => {
  const { slack, messages } = await startWholeBot(t, onSlack({ script: ['One.', 'Two.'] }));
  const anna = slack.workspace.addUser('anna');
  const elements = [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'wings cost 12 now' }] }];
  const blocks = [{ type: 'rich_text', elements }];
  const forward = {
    is_share: true,
    author_id: 'U77',
    author_name: 'Rebecca',
    message_blocks: [{ message: { blocks } }],
  };
  slack.people.dm(anna, 'deal with this', { attachments: [forward] });
  await slack.posted(({ text }) => text === 'One.');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const root = slack.people.post(anna, room, '', { attachments: [forward] });
  slack.people.mention(anna, room, 'and this?', { thread: root.ts });
  await slack.posted(({ text }) => text === 'Two.');
  for (const { body } of messages.requests)
    assert.match(
      JSON.stringify(body.messages),
      /<quote from=\\"Rebecca\\" id=\\"slack:U77\\" note=\\"shared message\\"[^>]*>\\nwings cost 12 now/,
    );
});

test('I1 I6 /skill in a channel opens a thread; @bot NAME: text runs a skill in it; @bot stop is a command', async (t) => {
  const { slack, messages } = await startWholeBot(
    t,
    onSlack({ skills: { lookup }, script: (body) => (isRun(body) ? 'found it' : 'Said nicely.') }),
  );
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  await slack.people.slash(anna, room, 'lookup Paris');
  const root = await slack.posted((message) => message.text.includes('asked'));
  const answer = await slack.posted((message) => message.threadTs === root.ts);
  assert.match(answer.text, /Said nicely/);
  assert.match(JSON.stringify(messages.requests[0]!.body.messages), /Paris/);
  slack.people.mention(anna, room, 'lookup: London', { thread: root.ts });
  await slack.posted((message) => message.threadTs === root.ts && message.ts !== answer.ts);
  assert.match(JSON.stringify(messages.requests[2]!.body.messages), /London/);
  assert.ok(isRun(messages.requests[2]!.body), 'it ran without asking a model first');
  slack.people.mention(anna, room, 'stop', { thread: root.ts });
  await slack.posted((message) => message.text.includes('Nothing is running'));
  assert.equal(messages.requests.length, 4);
});

test('I1 a bare /skill lists the skills with a picker, and picking one runs it', async (t) => {
  const { slack } = await startWholeBot(
    t,
    onSlack({
      toml: '[access]\nusers = ["slack:*"]\n[skills]\nbundled = false\n',
      skills: { lookup },
      script: (body) => (isRun(body) ? 'found it' : 'Said nicely.'),
    }),
  );
  const anna = slack.workspace.addUser('anna');
  await slack.people.slash(anna, slack.workspace.dmWith(anna.id), '');
  const list = await slack.posted((message) => message.text.includes('/skill lookup'));
  await slack.people.press(anna, list, 'lookup');
  await slack.posted((message) => message.text.includes('Said nicely'));
});

test('A11 A3 a sensitive skill called in a channel is refused with a link to the direct message', async (t) => {
  const { slack, messages } = await startWholeBot(t, onSlack({ skills: { gmail }, script: [] }));
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('group', { members: [anna.id] });
  slack.people.mention(anna, room, '/gmail what is new');
  const refusal = await slack.shown.until(({ kind, user }) => kind === 'ephemeral' && user === anna.id);
  assert.match(String(refusal.text), /direct message only/);
  assert.match(JSON.stringify(refusal.blocks), /slack\.com\/app_redirect/);
  assert.equal(messages.requests.length, 0);
});

test('I1 a sentence that begins with the name of a skill goes to the main agent', async (t) => {
  const { slack, messages } = await startWholeBot(
    t,
    onSlack({ skills: { lookup }, script: (body) => (isRun(body) ? 'it ran' : 'Read.') }),
  );
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  slack.people.mention(anna, room, 'lookup is a fine word, what do you think?');
  await slack.posted((message) => message.text.includes('Read.'));
  assert.ok(!messages.requests.some(({ body }) => isRun(body)));
});

test('M10 what was deleted is no background', async (t) => {
  const { slack, messages } = await startWholeBot(t, onSlack({ script: ['At ten.'] }));
  const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  const room = slack.workspace.addRoom('channel', { members: [anna.id, ben.id] });
  const root = slack.people.post(ben, room, 'The ferry leaves at ten.');
  const wrong = slack.people.post(ben, room, 'My password is hunter2.', { thread: root.ts });
  await Promise.all([root.delivered, wrong.delivered]);
  await slack.people.remove(wrong);
  slack.people.mention(anna, room, 'when?', { thread: root.ts });
  await slack.posted();
  assert.match(JSON.stringify(messages.requests[0]!.body.messages), /leaves at ten/);
  assert.doesNotMatch(JSON.stringify(messages.requests[0]!.body.messages), /hunter2/);
});

test('H4 in a thread where a command was answered, a reply without a mention goes on', async (t) => {
  const { slack } = await startWholeBot(t, onSlack({ script: ['I am fine.'] }));
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const asked = slack.people.mention(anna, room, '/tasks');
  await slack.posted(({ threadTs }) => threadTs === asked.ts);
  slack.people.post(anna, room, 'and how are you?', { thread: asked.ts });
  await slack.posted(({ text, threadTs }) => threadTs === asked.ts && text.includes('I am fine'));
});

test('H4 in a direct message no kind of message is met with silence, and a notice of Slack is none', async (t) => {
  const { slack, messages } = await startWholeBot(t, onSlack({ script: ['I cannot read that.'] }));
  const anna = slack.workspace.addUser('anna');
  for (const subtype of ['assistant_app_thread', 'pinned_item', 'channel_topic', 'huddle_thread'])
    await slack.people.dm(anna, 'Slack says', { subtype }).delivered;
  await slack.people.dm(anna, '/stop something happened', { subtype: 'voice_note' }).delivered;
  await slack.posted(({ text }) => text.includes('I cannot read that'));
  assert.equal(messages.requests.length, 1);
  const asked = JSON.stringify(messages.requests[0]!.body.messages);
  assert.match(asked, /<quote from=\\"anna\\"[^]*content of this kind of message cannot be read/);
  assert.doesNotMatch(asked, /something happened/, 'what Slack wrote is nobody’s words');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  await slack.people.post(anna, room, 'something happened', { subtype: 'voice_note' }).delivered;
  await slack.idle();
  assert.equal(messages.requests.length, 1);
});
