import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

test('B1 a turn that goes on with a chat makes no format of dates: the zone of the machine is known by then', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n',
    script: () => ({ content: [{ type: 'text', text: 'Fine.' }] }),
  });
  const ann = telegram.person({ name: 'Ann' });
  const answered = async (words: string): Promise<void> => {
    const sent = telegram.calls('sendMessage').length;
    ann.says(words);
    await telegram.until('the answer', () => telegram.calls('sendMessage').length > sent);
  };
  await answered('hello');
  const formats = t.mock.method(Intl, 'DateTimeFormat');
  await answered('and this?');
  assert.equal(formats.mock.callCount(), 0);
});
