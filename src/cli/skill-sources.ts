import { checkSources, type SourceFinding } from '../skills/check-sources.ts';
import { namedSource, skillSources } from '../skills/skill-sources.ts';
import { addressText } from '../config/source-address.ts';
import { OperatorError } from '../core/errors.ts';
import { slugOf } from '../core/skill.ts';
import { removeSkills } from '../skills/install/install-skills.ts';
import { existsSync } from 'node:fs';
import { dataOfBundle, placeOfBundle } from '../skills/install/bundle-place.ts';
import { checkPinned } from '../skills/install/hash-skill.ts';
import { installedFolder } from '../skills/install/lock-file.ts';
import { printable } from '../lib/text/text.ts';
import { askBot } from './ask-bot.ts';
import { openOperatorConfig } from './open-config.ts';
import type { SharedOptions } from './command.ts';
import { print, printJson, progressLine, untilInterrupted, printList } from './console.ts';
import { skilletHere } from '../core/skillet-here.ts';

/**
 * Lists the sources of skills and what is installed from them. Exit code 1 if a skill's files are not those that were
 * agreed to.
 */
export async function listSources({ config: flag, json }: SharedOptions): Promise<void> {
  const config = await openOperatorConfig(flag);
  const rows = skillSources(config).map(({ source, ref, inConfig, locked }) => ({
    source,
    ref,
    inConfig,
    agreed: locked !== undefined,
    skills: (locked?.skills ?? []).map((skill) => {
      const problem = checkPinned(installedFolder(config.bot.dataDir, skill), skill.files);
      const { name, path, commit, agreedAt, files } = skill;
      return {
        name,
        path,
        commit,
        agreedAt,
        files: files.length,
        problem,
      };
    }),
    bundles: (locked?.bundles ?? []).map(({ name, commit, agreedAt, files }) => {
      const place = placeOfBundle(config.bot.dataDir, name);
      const problem = place.ok ? undefined : place.problem;
      return { name, commit, agreedAt, files: files.length, problem };
    }),
  }));
  if (
    rows.some(({ skills, bundles }) => [...skills, ...bundles].some(({ problem }) => problem !== undefined))
  )
    process.exitCode = 1;
  if (json === true) return printJson(rows);
  printList(
    rows.flatMap(({ source, ref, inConfig, agreed, skills, bundles }) => [
      `${source}${ref === undefined ? '' : ` (${ref})`}${inConfig ? ', in config' : ''}`,
      ...(agreed
        ? []
        : [`  nothing of it is in use: look at it with "${skilletHere()} skill add ${source}"`]),
      ...skills.flatMap(({ name, commit, agreedAt, files, problem }) => {
        const from = commit === undefined ? '' : ` from ${commit.slice(0, 12)}`;
        const wrong = `    not in use: ${problem}; fix it with "${skilletHere()} skill update ${name}"`;
        return [
          `  ${name}  ${files} files${from}, agreed to on ${agreedAt.slice(0, 10)}`,
          ...(problem === undefined ? [] : [wrong]),
        ];
      }),
      ...bundles.flatMap(({ name, files, agreedAt, problem }) => [
        `  programs of ${name}  ${files} files, agreed to on ${agreedAt.slice(0, 10)}`,
        ...(problem === undefined ? [] : [`    not in use: ${problem}`]),
      ]),
    ]),
    `There are no sources. Begin with "${skilletHere()} skill add owner/name".`,
  );
}

/** Looks for changes in the sources, and installs nothing (D6). Exit code 1 if a source could not be fetched. */
export async function syncSources({ config: flag, json }: SharedOptions): Promise<void> {
  const config = await openOperatorConfig(flag);
  using interrupted = untilInterrupted(new OperatorError('Stopped.'));
  const line = progressLine();
  const findings = await checkSources({
    config,
    signal: interrupted.signal,
    progress: line.show,
    env: process.env,
  }).finally(line.end);
  if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
  if (json === true) return printJson(findings);
  for (const finding of findings) print([finding.source, ...findingLines(finding)].join('\n'));
  if (findings.length === 0)
    print(`There are no sources. Begin with "${skilletHere()} skill add owner/name".`);
}

/**
 * Removes a skill, or all skills of a source, from the lock and the disk (D6). Throws OperatorError if none is
 * installed.
 */
export async function removeInstalled({
  name: what,
  config: flag,
}: SharedOptions & Readonly<{ name: string }>): Promise<void> {
  const config = await openOperatorConfig(flag);
  const { dataDir } = config.bot;
  const sources = skillSources(config).flatMap(({ locked }) => (locked === undefined ? [] : [locked]));
  const bySource = sources.some(({ source }) => source === what || isSameSource(source, what));
  const gone = removeSkills(dataDir, ({ source }, { name }) =>
    bySource ? source === what || isSameSource(source, what) : name === what || name === slugOf(what),
  );
  if (gone.length === 0)
    throw new OperatorError(
      `Nothing is installed under "${what}". "${skilletHere()} skill sources" shows what is.`,
    );
  const names = gone.map(({ name }) => name);
  const from = gone[0]?.source ?? what;
  await askBot(flag, 'skills removed', { source: from, skills: names });
  const told = gone.map(({ kind, name }) => (kind === 'skill' ? name : `the programs of ${name}`));
  print(`Removed: ${told.join(', ')}. A running bot stops offering skills at once.`);
  for (const { kind, source, name } of gone) {
    if (kind === 'skill') continue;
    for (const [server, { bundle }] of Object.entries(config.mcp))
      if (bundle === name)
        print(`[mcp.${server}] in the config points there: remove it. Its server does not start any more.`);
    const data = dataOfBundle(dataDir, { source, name });
    if (existsSync(data)) print(`What its servers keep stays in ${data}: remove it if nobody needs it.`);
  }
}

function findingLines(finding: SourceFinding): readonly string[] {
  if (!finding.ok) return [`  ${finding.problem}`];
  const { agreed, changed, gone, others, source } = finding;
  const shown = others.map(printable).join(', ');
  if (!agreed)
    return [
      `  nothing of it is in use: ${shown || 'it has no skill'}; look at it with "${skilletHere()} skill add ${source}"`,
    ];
  return [
    ...changed.map(
      ({ name, asksMore }) =>
        `  ${name} changed${asksMore.length === 0 ? '' : ` and asks for more (${asksMore.map(printable).join('; ')})`}: "${skilletHere()} skill update ${name}"`,
    ),
    ...gone.map((name) => `  ${name} is no longer offered there`),
    ...(changed.length + gone.length === 0 ? ['  as it was agreed to'] : []),
    ...(others.length === 0 ? [] : [`  not installed: ${shown}`]),
  ];
}

/** Whether a text names this source. It may be the name of a skill instead, because both can look alike. */
function isSameSource(source: string, text: string): boolean {
  try {
    return addressText(namedSource(text)) === source;
  } catch (error) {
    if (error instanceof OperatorError) return false;
    throw error;
  }
}
