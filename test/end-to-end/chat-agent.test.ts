import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const toml =
  '[bot]\nowner = ["telegram:1001"]\n[access]\nusers = ["telegram:1001", "telegram:1002"]\ngroups_mode = "open"\n';
const fast = '[models.fast]\nmodel = "claude-haiku-5-5"\n';

test('M15 an owner sets the model and the persona of a chat; nobody else can, and other chats keep theirs', async (t) => {
  const bot = await startWholeBot(t, { toml: toml + fast, flood: false, script: () => 'Said.' });
  const { telegram, messages } = bot;
  const olga = telegram.person({ name: 'Olga', id: 1001 });
  const ann = telegram.person({ name: 'Ann', id: 1002 });
  const friends = telegram.group({ title: 'Friends' });
  const last = (): MessagesRequest | undefined => messages.requests.at(-1)?.body;
  const tell = async (who: typeof olga, text: string, answer: RegExp | string): Promise<string> => {
    who.says(text, { in: friends });
    return (await friends.nextMessage(answer)).text;
  };
  friends.setBot('administrator');
  const alone = async (who: typeof olga, text: string, answer: RegExp | string): Promise<string> => {
    who.says(text, { in: friends });
    return (await friends.nextShownTo(who, answer)).text;
  };
  const status = (): Promise<string> => alone(ann, '/status', /Model/);
  assert.match(await alone(ann, '/model fast', /./), /^Only an owner can change that\.$/);
  assert.match(await alone(ann, '/persona rude', /./), /^Only an owner can change that\.$/);
  await alone(olga, '/persona You are a parrot.', /My persona in this chat: You are a parrot\./);
  await friends.nextMessage('Olga changed this for the whole chat: my persona.');
  assert.match(await alone(olga, `/persona ${'x'.repeat(2_001)}`, /./), /at most 2000 characters/);
  await alone(olga, '/model nosuch', /I don’t know the model nosuch\. You can choose .*fast/);
  olga.says('/model', { in: friends });
  const menu = await friends.nextShownTo(olga, /claude-sonnet-5-5/);
  assert.ok(menu.buttons.includes('fast'));
  olga.pressesAlone(menu.id, 'fast', friends);
  await friends.nextShownTo(olga, /Model: claude-haiku-5-5 \(fast\)/);
  await friends.nextMessage('Olga changed this for the whole chat: my model.');
  await tell(ann, '@test_bot hello', 'Said.');
  assert.equal(last()?.model, 'claude-haiku-5-5');
  assert.match(JSON.stringify(last()?.system), /You are a parrot\./);
  assert.match(await status(), /claude-haiku-5-5/);
  ann.says('hello');
  await ann.dm.nextMessage('Said.');
  assert.equal(last()?.model, 'claude-sonnet-5-5');
  assert.doesNotMatch(JSON.stringify(last()?.system), /parrot/);

  // The alias is gone: the bot says so and answers all the same.
  await bot.reconfigure(toml);
  await bot.log.line(({ message }) => message === 'the config was changed');
  await tell(ann, '@test_bot hello again', 'Said.');
  assert.equal(last()?.model, 'claude-sonnet-5-5');
  assert.match(await status(), /The model fast was chosen here/);
  await alone(olga, '/model default', /Model: claude-sonnet-5-5/);
  await alone(olga, '/persona default', /I have no persona in this chat/);
  await tell(ann, '@test_bot bye', 'Said.');
  assert.doesNotMatch(JSON.stringify(last()?.system), /parrot/);
  assert.doesNotMatch(await status(), /was chosen/);
});

test('I3 /retry answers the last question of the same person again, and not while an answer is under way', async (t) => {
  const held = Promise.withResolvers<void>();
  let tries = 0;
  const { telegram, messages, bot } = await startWholeBot(t, {
    toml,
    script: (body) => {
      const said = JSON.stringify(body.messages.at(-1));
      if (!said.includes('2+2')) return 'Hello, Bob.';
      tries += 1;
      const text = tries === 1 ? 'Five.' : 'Four.';
      return {
        content: [{ type: 'text', text }],
        wire: { hold: tries === 2 ? held.promise : Promise.resolve() },
      };
    },
  });
  const olga = telegram.person({ name: 'Olga', id: 1001 });
  const ann = telegram.person({ name: 'Ann', id: 1002 });
  const friends = telegram.group({ title: 'Friends' });
  ann.says('/retry', { in: friends });
  await friends.nextMessage(/I found no earlier question of yours/);
  ann.says('@test_bot what is 2+2?', { in: friends });
  await friends.nextMessage('Five.');
  olga.says('@test_bot hello', { in: friends });
  await friends.nextMessage('Hello, Bob.');
  const asked = messages.requests.length;
  const again = ann.says('/retry', { in: friends });
  await telegram.until('the second try', () => messages.requests.length === asked + 1 || undefined);
  ann.says('/retry', { in: friends });
  await friends.nextMessage(/I am still answering\. Write \/stop/);
  held.resolve();
  assert.equal((await friends.nextMessage('Four.')).replyTo, again);
  const content = JSON.stringify(messages.requests.at(-1)?.body.messages.at(-1));
  assert.match(content, /<host>.*another answer.*what is 2\+2\?/s);
  await bot.idle();
  assert.equal(tries, 2);
});
