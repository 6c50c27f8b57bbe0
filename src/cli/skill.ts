import path from 'node:path';
import { createModels } from '../agent/models/create-models.ts';
import { hostDiagnostics } from '../conversations/host-diagnostics.ts';
import { listedToolDiagnostics } from '../tools/list-tools.ts';
import { skillNeeds } from '../runs/requirements.ts';
import { sourceDiagnostics } from '../skills/skill-sources.ts';
import type { Config } from '../config/complete-config.ts';
import { systemClock } from '../lib/clock.ts';
import type { Diagnostic } from '../core/codes.ts';
import { OperatorError } from '../core/errors.ts';
import { nearest, oneLine } from '../lib/text/text.ts';
import type { Skill } from '../core/skill.ts';
import { loadSkills } from '../skills/load-skills.ts';
import type { Registry } from '../skills/registry.ts';
import { listSkillFiles } from '../skills/skill-files.ts';
import { describe, fieldsOf, lackingOf, linesBelow, noteOf } from './describe-skill.ts';
import { openLog } from './open-log.ts';
import type { ReadOptions } from './options.ts';
import { openOperatorConfig } from './open-config.ts';
import { print, printJson } from './print.ts';
import { writtenApprovals } from './written-approvals.ts';
import { skillsHere } from './skills-here.ts';

/** `skill list`: each skill with its origin and its effective access, then every diagnostic (F5). Exit 1 when a skill did not load. */
export async function listSkills({ config: flag, json }: ReadOptions): Promise<void> {
  const config = await openOperatorConfig(flag);
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
    ...lackingOf(skill, needs),
  }));
  if (diagnostics.some(({ level }) => level === 'error')) process.exitCode = 1;
  if (json === true) return printJson({ skills: rows, diagnostics });
  const width = Math.max(0, ...rows.map(({ name }) => name.length));
  const noteWidth = Math.max(0, ...rows.map((row) => noteOf(row).length));
  for (const row of rows) {
    const { name, origin, enabled, chatTypes, description } = row;
    const where = enabled ? chatTypes.join(', ') || 'nowhere' : 'off';
    const note = noteWidth === 0 ? '' : ` ${noteOf(row).padEnd(noteWidth)}`;
    print(
      `${name.padEnd(width)}  ${origin.padEnd(11)} ${where.padEnd(23)}${note} ${oneLine(description, 60)}`,
    );
    for (const line of linesBelow(row)) print(`${' '.repeat(width)}  ${line}`);
  }
  if (rows.length === 0) print('There are no skills.');
  printDiagnostics(diagnostics);
}

/** `skill show NAME`: everything that is known of one skill. */
export async function showSkill(name: string, { config: flag, json }: ReadOptions): Promise<void> {
  const config = await openOperatorConfig(flag);
  const registry = await read(config, flag);
  const skill = registry.get(name);
  if (skill === undefined) throw new OperatorError(whyNoSkill(name, registry));
  const body = await registry.body(name, undefined);
  const { files, cut } = listSkillFiles(skill);
  const lacks = lackingOf(skill, (await skillNeeds(config, [skill])).needs);
  const row = { ...describe(skill, config), ...lacks };
  const text = body.ok ? body.text : undefined;
  if (json === true) return printJson({ ...skill, ...row, files, filesCut: cut, body: text });
  const { origin, enabled, chatTypes } = row;
  print(`${skill.name} (${origin}) ${skill.path}\n${skill.description}\n`);
  print(
    `works in: ${enabled ? chatTypes.join(', ') || 'no chat' : 'nothing: it is off'}${skill.access.sensitive ? ' (sensitive)' : ''}`,
  );
  for (const line of linesBelow(row)) print(line);
  if (noteOf(row) !== '') print(noteOf(row));
  for (const [what, text] of fieldsOf(skill, config)) print(`${what}: ${text}`);
  const { pin } = skill;
  if (pin !== undefined)
    print(`installed from: ${pin.source}${pin.commit === undefined ? '' : ` at ${pin.commit}`}`);
  for (const { origin: from, path: other } of skill.shadows) print(`shadows: ${other} (${from})`);
  if (files.length > 0) print(`files: ${files.join(', ')}${cut ? ', …' : ''}`);
  print(`\n${text ?? (body.ok ? '' : body.message)}`);
  const models = createModels(config.models, { log: openLog(config).log, clock: systemClock });
  const ofHost = hostDiagnostics([skill], config, models).filter(({ path: file }) => file === skill.path);
  printDiagnostics([...skill.diagnostics, ...ofHost, ...listedTools([skill], registry, config)]);
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

function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) print(asLine(diagnostic));
}

function asLine({ level, code, message, path: file, line }: Diagnostic): string {
  return `${level} ${code} ${file ?? ''}${line === undefined ? '' : `:${line}`}: ${message}`;
}
