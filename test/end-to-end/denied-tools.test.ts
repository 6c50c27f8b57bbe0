import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const lamp = path.join(import.meta.dirname, '../support/lamp-plugin');
const toml = `[access]
users = ["telegram:1", "telegram:2"]
[skills]
bundled = false
[[plugins]]
path = "${lamp}"
[[policy.rules]]
tool = "lamp_*"
sender = "telegram:2"
action = "deny"
[[policy.rules]]
tool = "bash"
skill = "lookup"
action = "deny"
`;
const skills = {
  lookup: '---\nname: lookup\ndescription: Looks things up.\n---\nLook it up.\n',
};

test('T8 a model does not see tools that the policy denies to this person or skill in every case, and calls of them stay refused', async (t) => {
  const set = await startWholeBot(t, {
    toml,
    skills,
    script: ({ system, messages }) => {
      if (JSON.stringify(system).includes('You carry out the skill')) return 'a run';
      return JSON.stringify(messages.at(-1)).includes('tool_result')
        ? 'It was refused.'
        : { content: [{ type: 'tool_use', name: 'lamp_state', input: {} }] };
    },
  });
  const [ann, ben] = [1, 2].map((id) => set.telegram.person({ name: `P${id}`, id }));
  assert.ok(ann && ben);
  const toolsOf = async (who: typeof ann, words: string): Promise<readonly string[]> => {
    const before = set.messages.requests.length;
    who.says(words);
    await who.dm.nextMessage();
    return (set.messages.requests[before]?.body.tools ?? []).map(({ name }) => name);
  };
  const hers = await toolsOf(ann, 'The lamp?');
  assert.ok(hers.includes('lamp_state') && hers.includes('use_skill'));
  const his = await toolsOf(ben, 'The lamp?');
  assert.deepEqual(
    his,
    hers.filter((name) => !name.startsWith('lamp_')),
  );
  const last = JSON.stringify(set.messages.requests.at(-1)?.body.messages.at(-1));
  assert.match(last, /TOOL_POLICY_DENIED/);
  const ofRun = await toolsOf(ann, '/lookup Paris');
  assert.ok(ofRun.includes('read_file') && !ofRun.includes('bash'));
});
