import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const toml = '[bot]\nowner = ["telegram:1"]\n';

test('G3 after a saved config that was not valid the owner hears once that it is mended', async (t) => {
  const set = await startWholeBot(t, { toml, script: () => 'said' });
  const owner = set.telegram.person({ name: 'Ann', id: 1 });
  owner.says('/whoami');
  await owner.dm.nextMessage();
  for (const mended of [toml, `${toml}[agent]\npersona = "You are calm."\n`]) {
    await set.reconfigure(`${toml}[agent]\npersona = 7\n`);
    await owner.dm.nextMessage(/is not valid, so nothing changed/);
    await set.reconfigure(mended);
    await owner.dm.nextMessage('The saved config.toml is valid again, and I use it.');
  }
  await set.reconfigure(`${toml}[agent]\npersona = "You are quick."\n`);
  await set.log.line(({ fields }) => String(fields['changed']) === 'agent.persona' && told() === 2);
  owner.says('Hello');
  await owner.dm.nextMessage('said');
  assert.equal(told(), 2);

  function told(): number {
    return owner.dm.sent().filter(({ text }) => /valid again/.test(text)).length;
  }
});

test('G3 a saved change that needs a restart is told to the owner, and its return to what runs is not', async (t) => {
  const set = await startWholeBot(t, { toml, script: () => 'said' });
  const owner = set.telegram.person({ name: 'Ann', id: 1 });
  owner.says('/whoami');
  await owner.dm.nextMessage();
  await set.reconfigure(`${toml}[skills]\nbundled = false\n[agent]\npersona = "You are calm."\n`);
  assert.equal(
    (await owner.dm.nextMessage()).text,
    'Please restart me to use what you changed in config.toml: skills.bundled.',
  );
  await set.reconfigure(toml);
  const reverted = await set.log.line(
    ({ message, fields }) => message.startsWith('the config was changed') && !needs(fields),
  );
  assert.deepEqual(reverted.fields['changed'], ['agent.persona', 'skills.bundled']);
  owner.says('Hello');
  assert.equal((await owner.dm.nextMessage()).text, 'said');

  function needs(fields: Readonly<Record<string, unknown>>): boolean {
    return (fields['needsRestart'] as readonly string[]).length > 0;
  }
});
