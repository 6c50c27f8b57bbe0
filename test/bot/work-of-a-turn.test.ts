import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

test('B1 B4 a plain answer makes nothing of Intl: its first date takes 8 MB for good', async (t) => {
  // As the machine's zone is named nearly everywhere; another one is asked of Intl.
  process.env['TZ'] = 'UTC';
  const { telegram } = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n',
    script: () => ({ content: [{ type: 'text', text: 'Fine.' }] }),
  });
  const made = ['Collator', 'DateTimeFormat', 'ListFormat', 'NumberFormat', 'Segmenter'].map((name) =>
    t.mock.method(Intl, name as 'DateTimeFormat'),
  );
  const ann = telegram.person({ name: 'Ann' });
  for (const words of ['hello', 'and this?']) {
    const sent = telegram.calls('sendMessage').length;
    ann.says(words);
    await telegram.until('the answer', () => telegram.calls('sendMessage').length > sent);
  }
  assert.deepEqual(
    made.map(({ mock }) => mock.callCount()),
    made.map(() => 0),
  );
});
