import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import type { ServerStep } from '../servers/messages/answer.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const isRun = ({ system }: MessagesRequest): boolean =>
  JSON.stringify(system).includes('You carry out the skill');

/** Starts the skill that was asked about, and only if it was told of that. */
function script(body: MessagesRequest): ServerStep {
  if (isRun(body)) return `Looked into: ${JSON.stringify(body.messages[0])}`;
  const all = JSON.stringify(body.messages);
  const last = JSON.stringify(body.messages.at(-1));
  if (last.includes('Looked into')) return last.includes('tea') ? 'All about tea.' : 'All about nothing.';
  return /did not say what[^]*tea/.test(all)
    ? { content: [{ type: 'tool_use', name: 'use_skill', input: { skill: 'research', message: 'tea' } }] }
    : 'I know of no question.';
}

test('I2 a bundled skill that is called bare asks on Telegram what it should work on, and the next message says it', async (t) => {
  const { telegram, messages } = await startWholeBot(t, { toml: '[access]\ndm = "open"\n', script });
  const ann = telegram.person({ name: 'Ann' });
  for (const [command, usage] of [
    ['/summarize', '/summarize <'],
    ['/skill_writer', '/skill_writer <'],
    ['/skill research', '/research <question>'],
  ] as const) {
    ann.says(command);
    const { text } = await ann.dm.nextMessage(/^What should /);
    assert.ok(text.includes(usage), text);
  }
  ann.says('/skill');
  const picker = await ann.dm.nextMessage(/Skills you can use here/);
  ann.presses(picker.id, 'research');
  await ann.dm.nextMessage(/^What should research work on\?/);
  assert.equal(messages.requests.length, 0, 'no model is asked what a person has to say');
  ann.says('tea');
  await ann.dm.nextMessage('All about tea.');
  assert.equal(messages.requests.length, 3);
  ann.says('/dice');
  await ann.dm.nextMessage(/All about/);
  assert.ok(
    messages.requests.slice(3).some(({ body }) => isRun(body)),
    'what is optional is not asked for',
  );
});

test('I2 H12 a bundled skill that is called bare on Slack asks with the usage of Slack, in a channel its caller alone', async (t) => {
  const { slack, bot, messages } = await startWholeBot(t, {
    toml: '[access]\nusers = ["slack:*"]\ngroups_mode = "open"\n',
    script,
    channels: ['slack'],
  });
  const anna = slack.workspace.addUser('anna');
  await slack.people.slash(anna, slack.workspace.dmWith(anna.id), 'research');
  const asked = await slack.posted();
  assert.match(asked.text, /What should `research` work on\?[^]*`\/skill research &lt;question&gt;`/);
  await slack.people.dm(anna, 'tea').delivered;
  await slack.posted(({ text }) => text.includes('All about tea'));
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  await slack.people.slash(anna, room, 'summarize');
  await slack.shown.until(
    ({ kind, user, text }) =>
      kind === 'ephemeral' && user === anna.id && /What should `summarize` work on/.test(String(text)),
  );
  slack.people.mention(anna, room, '/skill_writer');
  await slack.posted(({ text }) => /What should `skill-writer` work on[^]*@\S+ \/skill-writer/.test(text));
  await bot.idle();
  assert.equal(messages.requests.length, 3);
});
