import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { startWholeBot } from '../support/whole-bot.ts';

const lamp = path.join(import.meta.dirname, '../support/lamp-plugin');
const lookup = '---\nname: lookup\ndescription: Looks things up.\nallow_users: ["1001"]\n---\nLook it up.\n';
const base = '[access]\ndm = "open"\ngroups_mode = "open"\ngroup_users = ["*"]\n[skills]\nbundled = false\n';

test('I3 X2 /tools lists what the agent and skills may use here, with name, icon and risk, hidden ones left out', async (t) => {
  const { telegram, messages } = await startWholeBot(t, {
    toml: `${base}[bot]\nowner = ["telegram:1001"]\n[policy]\nmoderate = "confirm"\n[[policy.rules]]\ntool = "web_fetch"\naction = "deny"
[tools.web_search]\nprovider = "searxng"\nbase_url = "http://127.0.0.1:1"
[[plugins]]\npath = "${lamp}"\n`,
    skills: { lookup: lookup.replace(/allow_users.*\n/, '') },
    script: ['not to be asked'],
  });
  const ann = telegram.person({ name: 'Ann' });
  ann.says('/tools');
  const { text } = await ann.dm.nextMessage(/What I can use here/);
  const [main = '', runs = ''] = text.split('What skills can use as well:');
  assert.match(main, /🧩 Skills use_skill 🟢 safe: Hands a task to a skill\./);
  assert.match(main, /📎 Sending files send_file 🟡 moderate, asks first:/);
  assert.match(main, /💡 Lamp lamp_state 🟡 moderate, asks first: Says how the lamp is set up/);
  assert.match(runs, /💻 Commands bash 🟡 moderate, asks first/);
  assert.match(runs, /web_fetch 🟢 safe, not allowed:/);
  assert.match(runs, /🔍 Web search web_search/);
  assert.doesNotMatch(text, /lamp_inner|skills_read_file|capability/);
  assert.doesNotMatch(runs, /lamp_state|send_file/);
  assert.equal(messages.requests.length, 0);
});

test('I3 X7 /tools shows nobody what they may not use: no tool of a plugin for others, no skill tools without a skill', async (t) => {
  const { telegram } = await startWholeBot(t, {
    toml: `${base}[[plugins]]\npath = "${lamp}"\nusers = ["telegram:1001"]\nchat_types = ["private"]\n[skills.lookup]\nallow_users = ["telegram:1001"]\n`,
    skills: { lookup: lookup.replace(/allow_users.*\n/, '') },
    script: ['not to be asked'],
  });
  const olga = telegram.person({ name: 'Olga', id: 1001 });
  const ann = telegram.person({ name: 'Ann' });
  const team = telegram.group({ title: 'Team' });
  olga.says('/tools');
  const hers = (await olga.dm.nextMessage()).text;
  assert.match(hers, /use_skill.*lamp_state/s);
  ann.says('/tools');
  const others = (await ann.dm.nextMessage()).text;
  assert.match(others, /send_file/);
  assert.doesNotMatch(others, /use_skill|lamp|bash/);
  olga.says('/tools@test_bot', { in: team });
  assert.doesNotMatch((await team.nextMessage()).text, /lamp/);
});
