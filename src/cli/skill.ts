import path from 'node:path';
import { createModels } from '../agent/create-models.ts';
import { hostDiagnostics } from '../app/host-diagnostics.ts';
import { listedToolDiagnostics } from '../app/listed-tools.ts';
import { skillNeeds, type SkillNeed } from '../app/skill-needs.ts';
import { sourceDiagnostics } from '../app/skill-sources.ts';
import { skillRules } from '../config/access-from-config.ts';
import type { Config } from '../config/complete-config.ts';
import { systemClock } from '../core/clock.ts';
import { allowedChatTypes } from '../core/decide-skill.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { OperatorError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import type { Skill } from '../core/skill.ts';
import { oneLine } from '../core/text.ts';
import { bashKnowsEnv } from '../tools/ceiling.ts';
import { loadSkills } from '../skills/load-skills.ts';
import type { Registry } from '../skills/registry.ts';
import { listSkillFiles } from '../skills/skill-files.ts';
import { openLog } from './open-log.ts';
import type { ReadOptions } from './options.ts';
import { openConfig } from './open-config.ts';
import { print, printJson } from './print.ts';
import { writtenApprovals } from './written-approvals.ts';
import { skillsHere } from './skills-here.ts';

/** `skill list`: each skill with its origin and its effective access, then every diagnostic (F5). Exit 1 when a skill did not load. */
export async function listSkills({ config: flag, json }: ReadOptions): Promise<void> {
  const config = await openConfig(flag);
  const registry = await read(config, flag);
  const models = createModels(config.models, { log: openLog(config).log, clock: systemClock });
  const { needs } = await skillNeeds(config, registry.skills);
  const ofHost = [
    ...sourceDiagnostics(config),
    ...hostDiagnostics(registry.skills, config, models),
    ...listedTools(registry.skills, registry, config),
  ];
  const diagnostics = [...registry.diagnostics, ...ofHost];
  const rows = registry.skills.map((skill) => ({
    ...describe(skill, config),
    description: skill.description,
    ...lacking(skill, needs),
  }));
  if (diagnostics.some(({ level }) => level === 'error')) process.exitCode = 1;
  if (json === true) return printJson({ skills: rows, diagnostics });
  const width = Math.max(0, ...rows.map(({ name }) => name.length));
  for (const { name, origin, enabled, chatTypes, why, envInBash, description, missing, command } of rows) {
    const where = enabled ? chatTypes.join(', ') || 'nowhere' : 'off';
    print(`${name.padEnd(width)}  ${origin.padEnd(11)} ${where.padEnd(23)} ${oneLine(description, 60)}`);
    for (const reason of why) print(`${' '.repeat(width)}  ${reason}`);
    if (envInBash) print(`${' '.repeat(width)}  ${inBash}`);
    if (missing !== undefined)
      print(`${' '.repeat(width)}  unavailable: lacks ${missing.join(', ')}; run: ${command}`);
  }
  if (rows.length === 0) print('There are no skills.');
  printDiagnostics(diagnostics);
}

/** `skill show NAME`: everything that is known of one skill. */
export async function showSkill(name: string, { config: flag, json }: ReadOptions): Promise<void> {
  const config = await openConfig(flag);
  const registry = await read(config, flag);
  const skill = registry.get(name);
  if (skill === undefined) throw new OperatorError(whyNoSkill(name, registry));
  const body = await registry.body(name, undefined);
  const { files, cut } = listSkillFiles(skill);
  const lacks = lacking(skill, (await skillNeeds(config, [skill])).needs);
  const text = body.ok ? body.text : undefined;
  if (json === true)
    return printJson({ ...skill, ...describe(skill, config), ...lacks, files, filesCut: cut, body: text });
  const { origin, enabled, chatTypes, why, envInBash } = describe(skill, config);
  print(`${skill.name} (${origin}) ${skill.path}\n${skill.description}\n`);
  print(
    `works in: ${enabled ? chatTypes.join(', ') || 'no chat' : 'nothing: it is off'}${skill.access.sensitive ? ' (sensitive)' : ''}`,
  );
  for (const reason of why) print(`  ${reason}`);
  const asks = {
    env: skill.env,
    packages: skill.packages,
    programs: skill.programs,
    capabilities: skill.capabilities,
    network: skill.network,
    tools: skill.allowedTools ?? [],
  };
  for (const [what, list] of Object.entries(asks)) if (list.length > 0) print(`${what}: ${list.join(', ')}`);
  if (envInBash) print(inBash);
  if (lacks.missing !== undefined)
    print(`unavailable: lacks ${lacks.missing.join(', ')}; run: ${lacks.command}`);
  const { pin } = skill;
  if (pin !== undefined)
    print(`installed from: ${pin.source}${pin.commit === undefined ? '' : ` at ${pin.commit}`}`);
  for (const { origin: from, path: other } of skill.shadows) print(`shadows: ${other} (${from})`);
  if (files.length > 0) print(`files: ${files.join(', ')}${cut ? ', …' : ''}`);
  print(`\n${text ?? (body.ok ? '' : body.message)}`);
  printDiagnostics([...skill.diagnostics, ...listedTools([skill], registry, config)]);
}

/** What is wrong with the file that would be it, else what may have been meant. */
function whyNoSkill(name: string, { names, diagnostics }: Registry): string {
  const isOf = (file: string): boolean =>
    [path.basename(path.dirname(file)), path.parse(file).name].includes(name);
  const ofIt = diagnostics.filter(
    ({ path: file, level }) => level === 'error' && file !== undefined && isOf(file),
  );
  if (ofIt.length > 0) return [`The skill "${name}" is not loaded:`, ...ofIt.map(asLine)].join('\n');
  const near = nearest(name, names);
  const help = near.length === 0 ? 'See `skillet skill list`.' : `Near: ${near.join(', ')}.`;
  return `There is no skill "${name}". ${help}`;
}

/** What the bot wrote is judged by the store, which is asked only where there is a workspace skill at all (D9). */
async function read(config: Config, flag: string | undefined): Promise<Read> {
  const { roots, plugins, diagnostics } = await skillsHere(config);
  const registry = await loadSkills(roots, {
    strict: config.skills.strict,
    approvals: () => writtenApprovals(config, flag),
  });
  return {
    ...registry,
    diagnostics: [...diagnostics, ...registry.diagnostics],
    pluginTools: plugins.flatMap(({ tools }) => tools),
  };
}

type Read = Registry & Readonly<{ pluginTools: readonly string[] }>;

function listedTools(
  skills: readonly Skill[],
  { pluginTools }: Read,
  { mcp }: Config,
): readonly Diagnostic[] {
  return listedToolDiagnostics(skills, { plugins: pluginTools, hasServers: Object.keys(mcp).length > 0 });
}

/** What keeps a skill from being used on this system, where something does (R6). */
function lacking(
  { name }: Skill,
  needs: readonly SkillNeed[],
): Partial<Pick<SkillNeed, 'missing' | 'command'>> {
  const need = needs.find(({ skill }) => skill === name);
  return need?.command === undefined ? {} : { missing: need.missing, command: need.command };
}

/** Said where that is so (U3). */
const inBash = 'its env reaches commands that the model writes, too (bash)';

function describe(skill: Skill, config: Config) {
  const rules = skillRules(config);
  return {
    name: skill.name,
    origin: skill.origin,
    path: skill.path,
    approved: skill.access.approved,
    enabled:
      rules.enabled &&
      skill.access.approved &&
      (rules.skills.get(skill.name)?.enabled ?? !skill.access.optIn),
    chatTypes: allowedChatTypes(skill, rules),
    sensitive: skill.access.sensitive || rules.skills.get(skill.name)?.sensitive === true,
    why: skill.access.why,
    envInBash:
      skill.env.length > 0 && bashKnowsEnv(skill.allowedTools, config.skills.byName[skill.name]?.envInBash),
  };
}

function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) print(asLine(diagnostic));
}

function asLine({ level, code, message, path: file, line }: Diagnostic): string {
  return `${level} ${code} ${file ?? ''}${line === undefined ? '' : `:${line}`}: ${message}`;
}
