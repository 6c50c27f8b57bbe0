import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, watch } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { installSkills, quarantineFolder } from '../../src/skills/install/install-skills.ts';
import { loadSkills } from '../../src/skills/load-skills.ts';
import { lockedSkillStore } from '../../src/skills/install/locked-skill-store.ts';
import { readSkillFile } from '../../src/skills/skill-files.ts';
import { offerSkills } from '../support/offer-skills.ts';
import { makeRoot, skillText } from './make-root.ts';

/** What an install does, seen from outside: each is followed by a kill. */
const moments = [
  ['quarantine', /./],
  ['installed', /^[0-9a-f]{64}$/],
  ['', /^skills\.lock\.toml\.new$/],
  ['', /^skills\.lock\.toml$/],
  ['installed', /^\.changed$/],
] as const;

function happens(folder: string, name: RegExp): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, (_event, entry) => {
      if (entry === null || !name.test(entry)) return;
      watcher.close();
      resolve();
    });
  });
}

test('D6 killed while it installs, either version is in place as a whole, and the next install works', async (t) => {
  const version = (word: string): string =>
    makeRoot(t, {
      'a/SKILL.md': skillText(`name: a\ndescription: ${word}`),
      ...Object.fromEntries(
        Array.from({ length: 8 }, (_, index) => [`a/files/${index}.txt`, word.repeat(2_000)]),
      ),
    });
  // With three, the one before last is swept away, so that each install makes its folder anew.
  const versions = ['first', 'second', 'third'].map(version);
  const dataDir = makeRoot(t);
  const { offers } = await offerSkills(t, versions[0] ?? '');
  installSkills(dataDir, { source: '/s', offers, at: Date.now() });
  const seen = new Set<string>();
  for (const [folder, name] of moments) {
    const child = spawn(
      process.execPath,
      [path.join(import.meta.dirname, 'install-again.ts'), dataDir, '/s', ...versions],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    await happens(path.join(dataDir, folder), name);
    child.kill('SIGKILL');
    await exited;

    const { skills, diagnostics } = await loadSkills([
      { origin: 'installed', store: lockedSkillStore(dataDir) },
    ]);
    assert.deepEqual(diagnostics, []);
    const [skill] = skills;
    assert.ok(skill);
    seen.add(skill.description);
    for (let index = 0; index < 8; index += 1) {
      const file = readSkillFile(skill, `files/${index}.txt`);
      assert.ok(file.ok && file.text === skill.description.repeat(2_000));
    }
    installSkills(dataDir, { source: '/s', offers, at: Date.now() });
  }
  quarantineFolder(dataDir);
  assert.deepEqual(readdirSync(path.join(dataDir, 'quarantine')), []);
  t.diagnostic(`found after kills: ${[...seen].join(', ')}`);
});
