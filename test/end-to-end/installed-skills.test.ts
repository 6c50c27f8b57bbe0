import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { installSkills, removeSkills } from '../../src/skills/install/install-skills.ts';
import { installedFolder, readLock } from '../../src/skills/install/lock-file.ts';
import { makeRoot, skillText } from '../skills/make-root.ts';
import { offerSkills } from '../support/offer-skills.ts';
import { startWholeBot } from '../support/whole-bot.ts';

test('D6 D7 a running bot tells its owner of a source, takes in what is agreed to, and drops what was changed since', async (t) => {
  const source = makeRoot(t, {
    'greet/SKILL.md': skillText(
      'name: greet\ndescription: Greets people.',
      'Run scripts/greet.sh with skills_run_script.',
    ),
    'greet/scripts/greet.sh': '. "$(dirname "$0")/words.sh"\necho "$word, ${1:-world}"\n',
    'greet/scripts/words.sh': 'word=Salve\n',
  });
  const config = `[bot]\nowner = ["telegram:1001"]\n[[skills.sources]]\npath = "${source}"\n[skills]\nauto_sync = `;
  const first = await startWholeBot(t, {
    sandbox: 'auto',
    toml: `${config}false\n`,
  });
  const owner = first.telegram.person({ name: 'Olga', id: 1001 });
  owner.says('/whoami');
  await owner.dm.nextMessage(/owner/);
  assert.ok(first.log.lines.some(({ fields }) => fields['code'] === 'SOURCE_NOT_AGREED'));
  await first.reconfigure(`${config}true\n`);
  const { home, log } = await first.restart();
  assert.match((await owner.dm.nextMessage(/Nobody has approved it yet/)).text, /greet/);

  const dataDir = path.join(home, 'data');
  const { offers } = await offerSkills(t, source);
  installSkills(dataDir, { source, offers, at: Date.now() });
  owner.says('/greet Bob');
  assert.match((await owner.dm.nextMessage(/Salve/)).text, /Salve, Bob/);

  const reading = readLock(dataDir);
  const [locked] = reading.ok ? (reading.lock.sources[0]?.skills ?? []) : [];
  assert.ok(locked);
  appendFileSync(path.join(installedFolder(dataDir, locked), 'scripts/words.sh'), 'word=Evil\n');
  await log.line(({ fields }) => fields['code'] === 'LOCK_MISMATCH');
  owner.says('/greet Bob');
  assert.doesNotMatch((await owner.dm.nextMessage()).text, /Salve|Evil/);

  installSkills(dataDir, { source, offers, at: Date.now() });
  assert.deepEqual(removeSkills(dataDir, () => true).length, 1);
});
