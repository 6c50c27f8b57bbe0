import { skillSources, type SkillSource } from '../skills/skill-sources.ts';
import type { Config } from '../config/complete-config.ts';
import { OperatorError } from '../core/errors.ts';
import { slugOf } from '../core/skill.ts';
import { nearest } from '../lib/text/text.ts';
import { compareSkill, isChanged } from '../skills/install/install-compare.ts';
import { installLimits } from '../skills/install/install-source.ts';
import { readOffers, type SkillOffer } from '../skills/install/install-offers.ts';
import { installSkills } from '../skills/install/install-skills.ts';
import { checkPinned } from '../skills/install/hash-skill.ts';
import { installedFolder, type LockedSkill } from '../skills/install/lock-file.ts';
import { changeLines, offerLines, refusedLines, withSource } from './show-offer.ts';
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
  const names = sources.flatMap(({ locked }) => locked?.skills.map((skill) => skill.name) ?? []);
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
    const skills = (source.locked?.skills ?? []).filter((skill) => name === undefined || skill.name === name);
    if (skills.length > 0) await updateSource(source, skills, config, options);
  }
}

async function updateSource(
  { source, address, ref }: SkillSource,
  skills: readonly LockedSkill[],
  config: Config,
  { yes, config: flag }: SharedOptions & { yes?: boolean },
): Promise<void> {
  const { dataDir } = config.bot;
  await withSource({ dataDir, address, ref }, async (snapshot) => {
    const { commit } = snapshot;
    const wanted = (name: string): boolean => skills.some((skill) => skill.name === name);
    const { offers, refused } = await readOffers(snapshot, {
      limits: installLimits,
      strict: config.skills.strict,
      wanted,
    });
    const install = async (chosen: readonly SkillOffer[]): Promise<void> => {
      const now = Date.now();
      const from = { source, ref, commit };
      installSkills(dataDir, { ...from, offers: chosen, at: now });
      const installed = chosen.map((each) => each.name);
      await askBot(flag, 'skills installed', { source, commit, skills: installed });
    };
    print(`source ${source}${commit === undefined ? '' : `\ncommit ${commit}`}`);
    for (const line of refusedLines(refused)) print(line);
    const changed: SkillOffer[] = [];
    for (const skill of skills) {
      const offer = offers.find((each) => each.name === skill.name);
      const problem = checkPinned(installedFolder(dataDir, skill), skill.files);
      if (offer === undefined) {
        process.exitCode = 1;
        print(
          `${skill.name}: its source no longer offers it; "${skilletHere()} skill remove ${skill.name}" takes it away`,
        );
      } else if (isChanged(skill, offer)) changed.push(offer);
      else if (problem === undefined) print(`${skill.name}: unchanged`);
      else {
        await install([offer]);
        print(`${skill.name}: ${problem}; the approved version is restored`);
      }
    }
    if (changed.length === 0) return;
    for (const offer of changed) {
      const skill = skills.find(({ name }) => name === offer.name);
      if (skill === undefined) continue;
      print(changeLines(offer.name, compareSkill(dataDir, skill, offer)).join('\n'));
      print(`\n${offerLines(offer, config, undefined).join('\n')}\n`);
    }
    if (!isYes(await agree(`Install ${changed.map(({ name }) => name).join(', ')} as shown?`, yes === true)))
      return;
    await install(changed);
    print(`Updated: ${changed.map(({ name }) => name).join(', ')}. A running bot uses it at once.`);
  });
}
