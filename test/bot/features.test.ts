import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allCommands } from '../../src/features/list.ts';
import { startWholeBot } from '../support/whole-bot.ts';

test('I3 each command is answered, in a chat with a person', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n[bot]\nowner = ["telegram:42"]\n[skills]\nbundled = false\n',
    flood: false,
  });
  const ann = telegram.person({ id: 42, name: 'Ann' });
  for (const name of allCommands().names) {
    ann.says(`/${name}`);
    const { text } = await ann.dm.nextMessage(/./);
    // What no feature answers would end the conversation.
    assert.equal(/New conversation|archived/.test(text), name === 'new' || name === 'clear', name);
  }
});
