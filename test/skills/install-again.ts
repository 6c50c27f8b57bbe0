import { installLimits } from '../../src/skills/install/install-source.ts';
import { openSource } from '../../src/skills/install/git-source.ts';
import { readOffers } from '../../src/skills/install/install-offers.ts';
import { installSkills, quarantineFolder } from '../../src/skills/install/install-skills.ts';

/** Installs versions in turn, a day between them, as fast as it can, until it is killed; says a word for each. */
const [dataDir = '', source = '', ...versions] = process.argv.slice(2);
const all = await Promise.all(
  versions.map(async (path) => {
    const snapshot = await openSource({
      address: { kind: 'folder', path },
      quarantine: quarantineFolder(dataDir),
      limits: installLimits,
      signal: new AbortController().signal,
      progress: () => undefined,
      env: {},
    });
    return (await readOffers(snapshot, { limits: installLimits, strict: false })).offers;
  }),
);
for (let turn = 0; ; turn += 1) {
  installSkills(dataDir, {
    source,
    offers: all[turn % all.length] ?? [],
    at: Date.now() + turn * 90_000_000,
  });
  process.stdout.write('.');
}
