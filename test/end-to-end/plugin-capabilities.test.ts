import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configuredProviders } from '../../src/features/capabilities/configured-providers.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { nodeCommand } from '../support/node-command.ts';
import { callSteps, isRun, resultsIn } from '../support/call-steps.ts';
import { makePlugin, onePlugin } from '../support/make-plugin.ts';
import { notesMain, openNotesProvider } from '../support/notes-provider.ts';
import { startWholeBot } from '../support/whole-bot.ts';

const notebook =
  '---\nname: notebook\ndescription: Keeps notes.\ncapabilities: [notes.book]\n---\nUse the notebook.\n';

test('X1 C1 a plugin brings a provider: a run of a skill that declares its capability reaches it', async (t) => {
  const notes = await openNotesProvider(t);
  const command = nodeCommand(notesMain, '--data', notes.folder, '--page', notes.page);
  const more = `capabilities: [{ namespace: 'notes', command: ${JSON.stringify(command)} }],`;
  const folder = await makePlugin(t, onePlugin("name: 'one_thing'", { more }));
  const bot = await startWholeBot(t, {
    toml: `[access]\ndm = "open"\n[skills]\nbundled = false\n[[plugins]]\npath = "${folder}"\n`,
    script: callSteps([
      { name: 'capability_list', input: {} },
      { name: 'capability_invoke', input: { capability: 'notes.book', operation: 'list', input: {} } },
    ]),
    skills: { notebook },
  });
  const ann = bot.telegram.person({ name: 'Ann' });
  ann.says('/notebook show it');
  await ann.dm.nextMessage('All done.');
  const run = bot.messages.requests.map(({ body }) => body).findLast(isRun);
  const [list, invoked] = resultsIn(run ?? assert.fail('no run'));
  assert.match(list!, /notes\.book/);
  assert.match(invoked!, /capability_auth_required/);
});

test('X1 C1 config goes over the provider of a plugin, and can switch it off', () => {
  const ofPlugin = { namespace: 'notes', command: ['from-plugin'], timeoutSeconds: 5 };
  const found = (toml: string) => {
    const parsed = parseConfig(toml, { env: {} });
    assert.ok(parsed.ok);
    return configuredProviders(parsed.config, [ofPlugin]).get('notes')?.command;
  };
  assert.deepEqual(found(''), ['from-plugin']);
  assert.deepEqual(found('[capabilities.providers.notes]\ncommand = "mine"'), ['mine']);
  assert.equal(found('[capabilities.providers.notes]\nenabled = false'), undefined);
  const ofSkill = '[skills.notebook.capability_provider]\nnamespace = "notes"\ncommand = "of-skill"';
  assert.deepEqual(found(ofSkill), ['of-skill']);
});
