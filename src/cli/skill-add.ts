import { namedSource, skillSources } from '../skills/skill-sources.ts';
import { addressText, refProblem } from '../config/source-address.ts';
import type { Config } from '../config/complete-config.ts';
import type { LockedSkill, LockedSource } from '../skills/install/lock-file.ts';
import { OperatorError } from '../core/errors.ts';
import { nearest, printable } from '../lib/text/text.ts';
import { compareSkill, isChanged } from '../skills/install/install-compare.ts';
import { installLimits } from '../skills/install/install-source.ts';
import { readBundleFiles, type OfferedBundle } from '../skills/install/bundle-offers.ts';
import {
  readOffers,
  type BundleOffer,
  type Offers,
  type SkillOffer,
} from '../skills/install/install-offers.ts';
import { installSkills } from '../skills/install/install-skills.ts';
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
import { skillsHere } from './skills-here.ts';
import { skilletHere } from '../core/skillet-here.ts';

/**
 * Fetches a source, shows what each skill asks for, and installs what was shown after a yes (D6). Exit code 1 if
 * nothing was installed, 2 if nobody could be asked.
 */
export async function addSkills(
  options: SharedOptions &
    Readonly<{
      source: string;
      ref?: string;
      yes?: boolean;
      name?: readonly string[];
      except?: readonly string[];
    }>,
): Promise<void> {
  const config = await openOperatorConfig(options.config);
  const { dataDir } = config.bot;
  const address = namedSource(options.source);
  const source = addressText(address);
  const known = skillSources(config).find((each) => each.source === source);
  const ref = options.ref ?? known?.ref;
  const problem = ref === undefined ? undefined : refProblem(ref);
  if (problem !== undefined) throw new OperatorError(`--ref: ${problem}.`);
  const { name: names, except = [] } = options;
  const place = { dataDir, address, ref };

  await withSource(place, async (snapshot) => {
    const found = await readOffers(snapshot, {
      limits: installLimits,
      strict: config.skills.strict,
      wanted: (name) => (names?.includes(name) ?? true) && !except.includes(name),
    });
    const read = await readBundleFiles(snapshot, found.bundles, installLimits);
    const locked = known?.locked?.skills ?? [];
    const elsewhere = installedElsewhere(config, source);
    const { taken, free, offers } = sortOffers(found.offers, { locked, elsewhere });
    // Who names skills wants these alone.
    const bundles = names === undefined ? newBundles(read, known?.locked) : [];
    const used = variablesIn(config, found.bundles);
    showBundles(read, { dataDir, agreed: known?.locked?.bundles ?? [], used });
    for (const line of refusedLines(found.refused)) print(line);
    for (const { name } of taken)
      print(
        `left out: ${printable(name)} is installed from ${elsewhere.get(name)}; to take it from here, "${skilletHere()} skill remove ${name}" first`,
      );
    refuseAbsent(found, { names: names ?? [], except });
    const hasPrograms = read.some(({ offer }) => offer !== undefined);
    const sections = serverSections(read, used);
    if (sections.length === 0) refuseNothing(found, source, snapshot.entries.length);
    const { commit } = snapshot;
    const from = { source, ref, commit };
    if (offers.length + bundles.length === 0) {
      // No file changes, but later looks use this ref.
      if (locked.length > 0 && known?.locked?.ref !== ref)
        installSkills(dataDir, { ...from, offers, at: Date.now() });
      if (found.refused.length + taken.length > 0) process.exitCode = 1;
      if (free.length > 0 || hasPrograms) print('All of it is installed and up to date.');
      else if (sections.length > 0) print('There is nothing to install: its servers need no files of it.');
      else print('Nothing can be installed.');
      return printSections(sections);
    }
    await showOffers(offers, config, { source, ref, commit, locked });
    print('');
    if (!(await installAgreed(dataDir, { ...from, offers, bundles }, options))) return;
    printSections(sections);
  });
}

function printSections(sections: readonly string[]): void {
  if (sections.length > 0) print(`\n${sections.join('\n')}`);
}

type ToInstall = Omit<Parameters<typeof installSkills>[1], 'at' | 'bundles'> &
  Readonly<{ bundles: readonly BundleOffer[] }>;

/** Installs what was shown, after a yes. False if there was none. */
async function installAgreed(
  dataDir: string,
  shown: ToInstall,
  { config: flag, yes }: SharedOptions & Readonly<{ yes?: boolean }>,
): Promise<boolean> {
  const { source, commit, offers, bundles } = shown;
  const all = namesOf([...offers, ...bundles.map(({ name }) => ({ name: `the programs of ${name}` }))]);
  if (!isYes(await agree(`Install ${all}?`, yes === true))) return false;
  installSkills(dataDir, { ...shown, at: Date.now() });
  const skills = [...offers, ...bundles].map(({ name }) => name);
  await askBot(flag, 'skills installed', { source, commit, skills });
  print(`Installed: ${all}.${offers.length === 0 ? '' : ' A running bot uses it at once.'}`);
  return true;
}

/** Bundles with files to keep, if they are new or differ from what was agreed to. */
function newBundles(
  read: readonly OfferedBundle[],
  locked: LockedSource | undefined,
): readonly BundleOffer[] {
  return read.flatMap(({ offer }) => {
    const agreed = locked?.bundles?.find(({ name }) => name === offer?.name);
    return offer === undefined || (agreed !== undefined && !isChanged(agreed, offer)) ? [] : [offer];
  });
}

/** Prints what each skill asks for, and what changed in those that were installed before. */
async function showOffers(
  offers: readonly SkillOffer[],
  config: Config,
  from: Readonly<{
    source: string;
    ref: string | undefined;
    commit: string | undefined;
    locked: readonly LockedSkill[];
  }>,
): Promise<void> {
  const { source, ref, commit, locked } = from;
  const registry = await skillsHere(config);
  print(
    `source ${source}${commit === undefined ? '' : `\ncommit ${commit}`}${ref === undefined ? '' : ` (${ref})`}`,
  );
  for (const offer of offers) {
    const agreed = locked.find(({ name }) => name === offer.name);
    if (agreed !== undefined)
      print(changeLines(offer.name, compareSkill(config.bot.dataDir, agreed, offer)).join('\n'));
    print(`\n${offerLines(offer, config, registry.get(offer.name)).join('\n')}`);
  }
}

/** Skills that are installed from another source: the source by the name of the skill. */
function installedElsewhere(config: Config, source: string): ReadonlyMap<string, string> {
  const others = skillSources(config).filter((each) => each.source !== source);
  return new Map(
    others.flatMap((each) => (each.locked?.skills ?? []).map(({ name }) => [name, each.source] as const)),
  );
}

/** Throws OperatorError if the source has no skill of any name. */
function refuseNothing(
  { offers, refused, others, tooDeep, bundles }: Offers,
  source: string,
  files: number,
): void {
  if (offers.length + refused.length + others.length > 0) return;
  if (bundles.some((one) => one.refused !== undefined)) throw new OperatorError('Nothing can be installed.');
  const [deep] = tooDeep;
  const looked = `none of its ${files} files is a SKILL.md within four folders. Folders with a dot, such as .claude/skills, are looked at, too, but not .git, .venv, .cache or node_modules`;
  throw new OperatorError(
    deep === undefined
      ? `There is no skill in ${source}: ${looked}.`
      : `There is no skill in ${source} that can be offered: ${printable(deep)} lies deeper than four folders. Copy the folder above it here and add that.`,
  );
}

/** `taken` come from another source, `free` do not, and `offers` are the free ones that are new or changed. */
function sortOffers(
  all: readonly SkillOffer[],
  known: Readonly<{ locked: readonly LockedSkill[]; elsewhere: ReadonlyMap<string, string> }>,
): Readonly<Record<'taken' | 'free' | 'offers', readonly SkillOffer[]>> {
  const free = all.filter(({ name }) => !known.elsewhere.has(name));
  const offers = free.filter((offer) => {
    const agreed = known.locked.find(({ name }) => name === offer.name);
    return agreed === undefined || isChanged(agreed, offer);
  });
  return { taken: all.filter(({ name }) => known.elsewhere.has(name)), free, offers };
}

/** Throws OperatorError if a skill that was named, or left out by name, is not in the source. */
function refuseAbsent(
  { offers, refused, others }: Offers,
  { names, except }: Readonly<{ names: readonly string[]; except: readonly string[] }>,
): void {
  const all = [...offers, ...refused];
  for (const name of names) complainOfAbsent(name, all, others);
  for (const name of except)
    complainOfAbsent(
      name,
      others.map((other) => ({ name: other })),
      all.map(({ name: other }) => other),
    );
}

function complainOfAbsent(
  name: string,
  found: readonly Readonly<{ name: string }>[],
  others: readonly string[],
): void {
  if (found.some((each) => each.name === name)) return;
  const near = nearest(name, others);
  throw new OperatorError(
    `The source has no skill "${name}".${near.length === 0 ? '' : ` Near: ${near.map(printable).join(', ')}.`}`,
  );
}

function namesOf(offers: readonly Readonly<{ name: string }>[]): string {
  return offers.map(({ name }) => printable(name)).join(', ');
}
