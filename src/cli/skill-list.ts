import path from 'node:path';
import { createModels } from '../agent/models/create-models.ts';
import { hostDiagnostics } from '../conversations/host-diagnostics.ts';
import { allCommands, allTools } from '../features/list.ts';
import { listedToolDiagnostics } from '../tools/list-tools.ts';
import { skillNeeds, type SkillNeed } from '../runs/requirements.ts';
import { skillRules } from '../config/runtime-config.ts';
import { allowedChats, allowedChatTypes, isSensitive } from '../access/decide-skill.ts';
import { sourceDiagnostics } from '../skills/skill-sources.ts';
import type { Config } from '../config/complete-config.ts';
import { systemClock } from '../lib/clock.ts';
import type { Diagnostic } from '../core/codes.ts';
import { OperatorError } from '../core/errors.ts';
import { oneLine, printable } from '../lib/text/text.ts';
import type { Skill } from '../core/skill.ts';
import type { Registry } from '../skills/registry.ts';
import { listSkillFiles } from '../skills/skill-files.ts';
import { openLog } from './open-log.ts';
import type { SharedOptions } from './command.ts';
import { openOperatorConfig } from './open-config.ts';
import { print, printJson, printList, printText, terminalWidth } from './console.ts';
import { noSuchSkill, skillsHere, writtenApprovals, type SkillsHere } from './skills-here.ts';

/** How many characters of a description a list shows. */
const longestAbout = 60;

/** Lists all skills with their diagnostics. Exit code 1 if a skill did not load (F5). */
export async function listSkills({ config: flag, json }: SharedOptions): Promise<void> {
  const config = await openOperatorConfig(flag);
  const registry = await skillsHere(config, () => writtenApprovals(config, flag));
  const models = createModels(config.models, { log: openLog(config).log, clock: systemClock });
  const { needs } = await skillNeeds(config, registry.skills);
  const ofHost = [
    ...sourceDiagnostics(config),
    ...hostDiagnostics(registry.skills, config, { models, commands: allCommands(), tools: allTools() }),
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
    const head = `${name.padEnd(width)}  ${origin.padEnd(11)} ${where.padEnd(23)}${note}`;
    const below = ' '.repeat(width + 2);
    const isNarrow = head.length + longestAbout > terminalWidth();
    const about = oneLine(
      description,
      Math.min(longestAbout, terminalWidth() - (isNarrow ? below.length : 0)),
    );
    printList([
      ...(isNarrow ? [head, `${below}${about}`] : [`${head} ${about}`]),
      ...linesBelow(row).map((line) => `${below}${line}`),
    ]);
  }
  if (rows.length === 0) print('There are no skills.');
  printDiagnostics(diagnostics);
}

export async function showSkill({
  name,
  config: flag,
  json,
}: SharedOptions & Readonly<{ name: string }>): Promise<void> {
  const config = await openOperatorConfig(flag);
  const registry = await skillsHere(config, () => writtenApprovals(config, flag));
  const skill = registry.get(name);
  if (skill === undefined) throw whyNoSkill(name, registry);
  const body = await registry.body(name, undefined, config.skills);
  const { files, cut } = listSkillFiles(skill);
  const lacks = lackingOf(skill, (await skillNeeds(config, [skill])).needs);
  const row = { ...describe(skill, config), ...lacks };
  const text = body.ok ? body.text : undefined;
  if (json === true) return printJson({ ...skill, ...row, files, filesCut: cut, body: text });
  const { origin, enabled, chatTypes } = row;
  printText(`${skill.name} (${origin}) ${skill.path}\n${skill.description}\n`);
  printText(
    `works in: ${enabled ? chatTypes.join(', ') || 'no chat' : 'nothing: it is off'}${skill.access.sensitive ? ' (sensitive)' : ''}`,
  );
  for (const line of linesBelow(row)) printText(line);
  if (noteOf(row) !== '') printText(noteOf(row));
  for (const [what, text] of fieldsOf(skill, config)) printText(`${what}: ${text}`);
  const { pin } = skill;
  if (pin !== undefined)
    printText(`installed from: ${pin.source}${pin.commit === undefined ? '' : ` at ${pin.commit}`}`);
  for (const { origin: from, path: other } of skill.shadows) printText(`shadows: ${other} (${from})`);
  if (files.length > 0) printText(`files: ${files.join(', ')}${cut ? ', …' : ''}`);
  print(`\n${text ?? (body.ok ? '' : body.message)}`);
  const models = createModels(config.models, { log: openLog(config).log, clock: systemClock });
  const ofHost = hostDiagnostics([skill], config, {
    models,
    commands: allCommands(),
    tools: allTools(),
  }).filter(({ path: file }) => file === skill.path);
  printDiagnostics([...skill.diagnostics, ...ofHost, ...listedTools([skill], registry, config)]);
}

/** Says why a skill is not there: the problems of its file, or else names that are similar. */
function whyNoSkill(name: string, { names, diagnostics }: Registry): OperatorError {
  const isOf = (file: string): boolean =>
    [path.basename(path.dirname(file)), path.parse(file).name].includes(name);
  const ofIt = diagnostics.filter(
    ({ path: file, level }) => level === 'error' && file !== undefined && isOf(file),
  );
  if (ofIt.length === 0) return noSuchSkill(name, names);
  return new OperatorError([`The skill "${name}" is not loaded:`, ...ofIt.map(asLine)].join('\n'));
}

function listedTools(
  skills: readonly Skill[],
  { plugins }: SkillsHere,
  { mcp }: Config,
): readonly Diagnostic[] {
  const ofPlugins = plugins.flatMap(({ tools }) => tools);
  return listedToolDiagnostics(skills, {
    plugins: ofPlugins,
    hasServers: Object.keys(mcp).length > 0,
    builtInTools: allTools(),
  });
}

function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  printList(diagnostics.map(asLine));
}

function asLine({ level, code, message, path: file, line }: Diagnostic): string {
  return `${level} ${code} ${file ?? ''}${line === undefined ? '' : `:${line}`}: ${message}`;
}

/** What a skill may do by the rules in force (D3, A8), and which env it gets (U3). */
function describe(skill: Skill, config: Config) {
  const rules = skillRules(config);
  const settings = config.skills.byName[skill.name];
  const givenEnv = Object.keys(settings?.env ?? {});
  return {
    name: skill.name,
    origin: skill.origin,
    path: skill.path,
    approved: skill.access.approved,
    enabled: rules.enabled && skill.access.approved && (settings?.enabled ?? !skill.access.optIn),
    chatTypes: allowedChatTypes(skill, rules),
    /** The chats in which it may be used. Undefined: in all chats of those types. */
    chats: allowedChats(skill.name, rules),
    /** The people who may use it. Undefined: everybody. */
    users: settings?.allowUsers,
    sensitive: isSensitive(skill, rules),
    why: skill.access.why,
    givenEnv,
    /** Whether commands (bash) get its env, too. Undefined if it has no env. */
    envInBash: skill.env.length + givenEnv.length > 0 ? (settings?.envInBash ?? true) : undefined,
  };
}

/** What a skill, or one of its scripts, lacks to work here (R6, U3). */
type Lacking = Readonly<{
  missing?: readonly string[];
  missingPython?: readonly string[];
  missingEnv?: readonly string[];
  command?: string;
}>;

function lackingOf({ name }: Skill, needs: readonly SkillNeed[]): Lacking {
  const need = needs.find(({ skill }) => skill === name);
  if (need === undefined) return {};
  const { missing, python, env, command } = need;
  return {
    missing: missing.length === 0 ? undefined : missing,
    missingPython: python.length === 0 ? undefined : python,
    missingEnv: env.length === 0 ? undefined : env,
    command,
  };
}

type Row = ReturnType<typeof describe> & Lacking;

/** A short note such as `needs PERPLEXITY_API_KEY`. Empty if nothing is missing. */
function noteOf({ missing = [], missingPython = [], missingEnv = [] }: Lacking): string {
  const all = [...missingEnv, ...missing, ...missingPython];
  return all.length === 0 ? '' : `needs ${all.slice(0, 3).join(', ')}${all.length > 3 ? ', …' : ''}`;
}

/** Says whom the rules leave out and why, where keys go, and how to get what is missing. */
function linesBelow(row: Row): readonly string[] {
  const { name, chats, users, why, envInBash, missing, missingEnv, command } = row;
  const lacks = [...(missing ?? []), ...(row.missingPython ?? [])].join(', ');
  return [
    ...(chats === undefined ? [] : [`only in these chats: ${chats.join(', ')}`]),
    ...(users === undefined ? [] : [`only for these people: ${users.join(', ') || 'nobody'}`]),
    ...why,
    ...(envInBash === false
      ? [`only its scripts get its env: [skills.${name}] env_in_bash = false keeps it from other commands`]
      : []),
    ...(missingEnv === undefined
      ? []
      : [`not set up: write ${missingEnv.join(', ')} below [skills.${name}] in config.toml`]),
    ...(command === undefined
      ? []
      : [
          `${missing === undefined ? 'some scripts fail' : 'unavailable'}: lacks ${lacks}; do this: ${command}`,
        ]),
  ];
}

function fieldsOf(skill: Skill, config: Config): readonly (readonly [what: string, text: string])[] {
  const settings = config.skills.byName[skill.name];
  const given = Object.keys(settings?.env ?? {});
  const env = [...new Set([...skill.env, ...given])].map((name) =>
    skill.env.includes(name) ? name : `${name} (given by the operator)`,
  );
  const network = [...new Set([...skill.network, ...(settings?.network ?? [])])].join(', ');
  const reached = settings?.envInBash === false ? 'scripts' : 'scripts and commands (bash)';
  const { access } = skill;
  const started = [
    ...(access.disableModelInvocation ? ['not by the model'] : []),
    ...(access.userInvocable ? [] : ['not by people']),
  ];
  const iterations = settings?.maxIterations ?? skill.maxIterations;
  const texts: readonly (readonly [string, string | undefined])[] = [
    ['version', skill.version],
    ['tags', skill.tags.join(', ')],
    ['authors', skill.authors.join(', ')],
    ['rationale', skill.rationale],
    ['license', skill.license],
    ['compatibility', skill.compatibility],
    ['model', settings?.model ?? skill.model],
    ['limits', `${iterations} model calls, ${skill.timeoutSeconds} s`],
    ['context', skill.context === 'inline' ? 'inline' : undefined],
    ['agent', skill.agent === 'general' ? undefined : skill.agent],
    ['background', skill.background ? 'yes' : undefined],
    ['started', started.join(', ')],
    ['env', env.join(', ')],
    ['env reaches', env.length === 0 ? undefined : `its ${reached}; ${envIsSafe(network)}`],
    ['packages', skill.packages.join(', ')],
    ['programs', skill.programs.join(', ')],
    ['Python packages', skill.python.join(', ')],
    ['capabilities', skill.capabilities.join(', ')],
    ['network', network],
    ['tools', skill.allowedTools?.join(', ')],
    ['not tools', skill.disallowedTools?.join(', ')],
    ['when to use', skill.whenToUse],
    ...Object.entries(skill.metadata).map(([key, text]) => [`metadata ${key}`, text] as const),
    ...Object.entries(skill.others).map(([key, text]) => [`${key} (no meaning here)`, text] as const),
  ];
  return texts.flatMap(([what, text = '']) =>
    text === '' ? [] : [[what, printable(oneLine(text, 400))] as const],
  );
}

/** Says what keeps a skill's env from reaching other hosts (U3). */
function envIsSafe(network: string): string {
  return `they reach ${network === '' ? 'no host' : `only ${network}`}, and their output is redacted`;
}
