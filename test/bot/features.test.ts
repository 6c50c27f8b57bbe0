import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOfFeatures } from '../../src/conversations/parts-of-features.ts';
import { builtInCommands } from '../../src/core/built-in-commands.ts';
import { startWholeBot } from '../support/whole-bot.ts';

test('I3 each command of the table is answered, in a chat with a person', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml: '[access]\ndm = "open"\n[bot]\nowner = ["telegram:42"]\n[skills]\nbundled = false\n',
    flood: false,
  });
  const ann = telegram.person({ id: 42, name: 'Ann' });
  for (const { name } of builtInCommands) {
    ann.says(`/${name}`);
    const { text } = await ann.dm.nextMessage(/./);
    // What no feature answers would end the conversation.
    assert.equal(/New conversation|archived/.test(text), name === 'new' || name === 'clear', name);
  }
});

test('I3 two features never answer the same command or the same button', () => {
  const answer = async () => undefined;
  const one = { name: 'one', commands: { memory: answer }, presses: { memory: answer } };
  const parts = partsOfFeatures([one]);
  assert.equal(parts.command('memory', 'all'), answer);
  assert.equal(parts.press('memory'), answer);
  assert.throws(() => partsOfFeatures([one, { name: 'two', commands: one.commands }]), /memory/);
  assert.throws(() => partsOfFeatures([one, { name: 'two', presses: one.presses }]), /same name/);
});

test('I3 X3 a feature may answer a part of another one’s command', () => {
  const all = async () => undefined;
  const part = async () => undefined;
  const when = (args: string): boolean => args.startsWith('zone');
  const parts = partsOfFeatures([
    { name: 'one', commands: { settings: { answer: all, isMeant: (args) => args === 'key' } } },
    { name: 'two', commands: { settings: { answer: part, when, isMeant: when } } },
  ]);
  assert.equal(parts.command('settings', 'zone of mine'), part);
  assert.equal(parts.command('settings', 'key'), all);
  assert.deepEqual(
    ['zone', 'key', 'all'].map((args) => parts.isMeant('settings', args)),
    [true, true, false],
  );
  assert.equal(parts.isMeant('memory', 'zone'), false);
});
