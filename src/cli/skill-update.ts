import { skillSources, type SkillSource } from '../skills/skill-sources.ts';
import type { Config } from '../config/complete-config.ts';
import { OperatorError } from '../core/errors.ts';
import { slugOf } from '../core/skill.ts';
import { nearest } from '../lib/text/text.ts';
import { compareSkill, isChanged } from '../skills/install/install-compare.ts';
import { installLimits } from '../skills/install/install-source.ts';
import { readBundleFiles } from '../skills/install/bundle-offers.ts';
import { placeOfBundle } from '../skills/install/bundle-place.ts';
import { readOffers, type BundleOffer, type SkillOffer } from '../skills/install/install-offers.ts';
import { installSkills } from '../skills/install/install-skills.ts';
import { checkPinned } from '../skills/install/hash-skill.ts';
import { installedFolder, type LockedBundle, type LockedSkill } from '../skills/install/lock-file.ts';
import {
  changeLines,
  offerLines,
  refusedLines,
  serverSections,
  showBundles,
  variablesIn,
  withSource,
} from './show-offer.ts';
import { askBot } from './ask-bot.ts';
import { openOperatorConfig } from './open-config.ts';
import type { SharedOptions } from './command.ts';
import { agree, isYes, print } from './console.ts';
import { skilletHere } from '../core/skillet-here.ts';

/**
 * Shows how installed skills differ from what was agreed to, and installs them after a new yes (D6). Repairs changed
 * files without asking if the source still has them as agreed. Exit code 1 if something was not installed, 2 if nobody
 * could be asked.
 */
export async function updateSkills(
  options: SharedOptions & Readonly<{ name?: string; yes?: boolean }>,
): Promise<void> {
  const config = await openOperatorConfig(options.config);
  const sources = skillSources(config).filter(({ locked }) => locked !== undefined);
  const names = sources.flatMap(({ locked }) =>
    [...(locked?.skills ?? []), ...(locked?.bundles ?? [])].map((one) => one.name),
  );
  const written = options.name;
  const name =
    written === undefined || names.includes(written) ? written : names.find((one) => one === slugOf(written));
  if (written !== undefined && name === undefined) {
    const near = nearest(written, names);
    throw new OperatorError(
      `No installed skill is called "${written}".${near.length === 0 ? '' : ` Near: ${near.join(', ')}.`}`,
    );
  }
  if (names.length === 0) return print('No skill is installed.');
  for (const source of sources) {
    const isMeant = (one: LockedSkill): boolean => name === undefined || one.name === name;
    const skills = (source.locked?.skills ?? []).filter(isMeant);
    const bundles = (source.locked?.bundles ?? []).filter(isMeant);
    if (skills.length + bundles.length > 0) await updateSource(source, { skills, bundles }, config, options);
  }
}

type Meant = Readonly<{ skills: readonly LockedSkill[]; bundles: readonly LockedBundle[] }>;

async function updateSource(
  { source, address, ref }: SkillSource,
  { skills, bundles }: Meant,
  config: Config,
  { yes, config: flag }: SharedOptions & { yes?: boolean },
): Promise<void> {
  const { dataDir } = config.bot;
  await withSource({ dataDir, address, ref }, async (snapshot) => {
    const { commit } = snapshot;
    const wanted = (name: string): boolean => skills.some((skill) => skill.name === name);
    const found = await readOffers(snapshot, {
      limits: installLimits,
      strict: config.skills.strict,
      wanted,
    });
    const read = await readBundleFiles(snapshot, found.bundles, installLimits);
    const install = async (
      of: Readonly<{ offers: readonly SkillOffer[]; bundles: readonly BundleOffer[] }>,
    ) => {
      installSkills(dataDir, { source, ref, commit, ...of, at: Date.now() });
      const installed = [...of.offers, ...of.bundles].map((each) => each.name);
      await askBot(flag, 'skills installed', { source, commit, skills: installed });
    };
    print(`source ${source}${commit === undefined ? '' : `\ncommit ${commit}`}`);
    for (const line of refusedLines(found.refused)) print(line);
    const ofSkills = sortChanges(skills, found.offers, (skill) =>
      checkPinned(installedFolder(dataDir, skill), skill.files),
    );
    const offered = read.flatMap(({ offer }) => (offer === undefined ? [] : [offer]));
    const ofBundles = sortChanges(bundles, offered, ({ name }) => {
      const place = placeOfBundle(dataDir, name);
      return place.ok ? undefined : place.problem;
    });
    if (ofSkills.broken.length + ofBundles.broken.length > 0) {
      await install({ offers: ofSkills.broken, bundles: ofBundles.broken });
      for (const { name } of [...ofSkills.broken, ...ofBundles.broken])
        print(`${name}: the approved version is restored`);
    }
    const changed = [...ofSkills.changed, ...ofBundles.changed];
    if (changed.length === 0) return;
    const used = variablesIn(config, found.bundles);
    showChanges(ofSkills.changed, skills, config);
    const ofOthers = read.filter(({ offer }) => offer !== undefined && ofBundles.changed.includes(offer));
    showBundles(ofOthers, { dataDir, agreed: bundles, used });
    const names = changed.map(({ name }) => name).join(', ');
    if (!isYes(await agree(`Install ${names} as shown?`, yes === true))) return;
    await install({ offers: ofSkills.changed, bundles: ofBundles.changed });
    print(`Updated: ${names}. A running bot uses it at once.`);
    if (ofOthers.length === 0) return;
    print(`\n${serverSections(ofOthers, used).join('\n')}`);
  });
}

function showChanges(offers: readonly SkillOffer[], locked: readonly LockedSkill[], config: Config): void {
  for (const offer of offers) {
    const skill = locked.find(({ name }) => name === offer.name);
    if (skill === undefined) continue;
    print(changeLines(offer.name, compareSkill(config.bot.dataDir, skill, offer)).join('\n'));
    print(`\n${offerLines(offer, config, undefined).join('\n')}\n`);
  }
}

/** `changed` differ from what was agreed to; `broken` do not, but their files here do. Says what is unchanged or gone. */
function sortChanges<Offer extends BundleOffer>(
  all: readonly LockedSkill[],
  offers: readonly Offer[],
  problemOf: (one: LockedSkill) => string | undefined,
): Readonly<{ changed: readonly Offer[]; broken: readonly Offer[] }> {
  const sorted: { changed: Offer[]; broken: Offer[] } = { changed: [], broken: [] };
  for (const one of all) {
    const offer = offers.find(({ name }) => name === one.name);
    const problem = problemOf(one);
    if (offer === undefined) {
      process.exitCode = 1;
      print(
        `${one.name}: its source no longer offers it; "${skilletHere()} skill remove ${one.name}" takes it away`,
      );
    } else if (isChanged(one, offer)) sorted.changed.push(offer);
    else if (problem === undefined) print(`${one.name}: unchanged`);
    else {
      print(`${one.name}: ${problem}`);
      sorted.broken.push(offer);
    }
  }
  return sorted;
}
