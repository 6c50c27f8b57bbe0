import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { askBot } from '../ask-bot.ts';
import { argument, command, flag, gather, option, optional, type SharedOptions } from '../command.ts';
import { print, printJson } from '../console.ts';

const skill = argument('its name');

/** Skills, and where their scripts run. */
export const skillCommands = [
  command({
    name: 'skill list',
    about: 'list skills, where they can be used, and their problems',
    json: true,
    run: async (given) => (await import('../skill-list.ts')).listSkills(given),
  }),
  command({
    name: 'skill show',
    about: 'show a skill with its access, files and text',
    args: { name: skill },
    json: true,
    run: async (given) => (await import('../skill-list.ts')).showSkill(given),
  }),
  command({
    name: 'skill validate',
    about: 'check skills against the open specification',
    args: { path: argument('a SKILL.md, its folder, or a folder of skills') },
    options: { strict: flag('only what the reference validator reports') },
    needs: 'nothing',
    json: true,
    run: validate,
  }),
  command({
    name: 'skill new',
    about: 'create a skill in the workspace',
    args: { name: argument('lower-case letters, digits and single hyphens') },
    options: { description: option('text', 'what it does and when to use it') },
    run: writeNew,
  }),
  command({
    name: 'skill add',
    about: 'review and install skills from owner/name, a git URL or a folder',
    args: { source: argument('owner/name, a git URL or a folder') },
    options: {
      ref: option('name', 'a branch, tag or commit'),
      name: option<readonly string[] | undefined>('skill', 'only this one; can be repeated', {
        read: gather,
      }),
      except: option<readonly string[] | undefined>('skill', 'all but this one; can be repeated', {
        read: gather,
      }),
      yes: flag('agree without being asked'),
    },
    examples: ['skillet skill add owner/name --name dice', 'skillet skill add owner/name --except dice'],
    run: async (given) => (await import('../skill-add.ts')).addSkills(given),
  }),
  command({
    name: 'skill sources',
    about: 'list where skills come from, and what you agreed to',
    json: true,
    run: async (given) => (await import('../skill-sources.ts')).listSources(given),
  }),
  command({
    name: 'skill sync',
    about: 'fetch every source and say what changed; installs nothing',
    json: true,
    run: async (given) => (await import('../skill-sources.ts')).syncSources(given),
  }),
  command({
    name: 'skill update',
    about: 'review and install updates of installed skills',
    args: { name: optional('only this one') },
    options: { yes: flag('agree without being asked') },
    run: async (given) => (await import('../skill-update.ts')).updateSkills(given),
  }),
  command({
    name: 'skill remove',
    about: 'remove an installed skill, or all skills of a source',
    args: { name: argument('a skill, or a source') },
    run: async (given) => (await import('../skill-sources.ts')).removeInstalled(given),
  }),
  command({
    name: 'skill test',
    about: 'run the tests of a skill, with the configured model or a recording',
    args: { name: skill },
    options: {
      record: option('file', 'record the answers of the model'),
      replay: option('file', 'use recorded answers instead of the model'),
      approve: flag('say yes where the policy asks and a case does not say what to answer'),
      baseline: flag('run each case without the skill, too, and compare quality, tokens and time'),
      trigger: option('file', 'try which prompts of this list start the skill, instead of its tests'),
    },
    json: true,
    run: async (given) => (await import('../skill-test.ts')).runSkillTests(given),
  }),
  command({
    name: 'skill enable',
    about: 'enable a skill that the bot wrote; read it first with `skillet skill show`',
    args: { name: skill },
    needs: 'bot',
    json: true,
    run: async (given) => decide('skill enable', given),
  }),
  command({
    name: 'skill discard',
    about: 'remove a skill that the bot wrote',
    args: { name: skill },
    needs: 'bot',
    json: true,
    run: async (given) => decide('skill discard', given),
  }),
  command({
    name: 'sandbox build',
    about: 'install the Debian packages that skills need into the sandbox',
    options: { fresh: flag('rebuild with the newest versions, even if nothing changed') },
    json: true,
    run: async (given) => (await import('../sandbox.ts')).buildSandbox(given),
  }),
  command({
    name: 'sandbox status',
    about: 'show which sandbox is used, what it has, and what skills lack',
    json: true,
    run: async (given) => (await import('../sandbox.ts')).sandboxStatus(given),
  }),
  command({
    name: 'sandbox shell',
    about: 'open a shell that sees what the scripts of a skill see',
    args: { skill: optional('default: what every script sees') },
    run: async (given) => (await import('../sandbox-shell.ts')).openSandboxShell(given),
  }),
];

/** Checks skills and prints all problems at once. Exit code 1 on any error (F5). */
async function validate(given: SharedOptions & Readonly<{ path: string; strict?: boolean }>): Promise<void> {
  const { validateTree } = await import('../../skills/parse/validate-skill.ts');
  const found = validateTree(path.resolve(given.path), {
    strict: given.strict === true,
  });
  if (found.length === 0)
    throw new OperatorError(
      `There is no skill at ${given.path}: name a SKILL.md, its folder, or a folder of skills.`,
    );
  if (found.some(({ valid }) => !valid)) process.exitCode = 1;
  if (given.json === true) return printJson(found);
  for (const { path: file, valid, problems } of found) {
    print(`${valid ? 'valid  ' : 'invalid'}  ${file}`);
    for (const { level, code, message, line } of problems) {
      print(`  ${level} ${code}${line === undefined ? '' : ` line ${line}`}: ${message}`);
    }
  }
}

/** Writes a new skill. Throws OperatorError rather than replace one. */
async function writeNew(
  given: SharedOptions & Readonly<{ name: string; description?: string }>,
): Promise<void> {
  const { name, description = 'Say what this skill does and when to use it.' } = given;
  const [{ openOperatorConfig }, { newSkillText }] = await Promise.all([
    import('../open-config.ts'),
    import('../../skills/parse/skill-definition.ts'),
  ]);
  const config = await openOperatorConfig(given.config);
  const folder = path.join(config.bot.workspace, 'skills', name);
  const file = path.join(folder, 'SKILL.md');
  if (!/^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$/u.test(name) || [...name].length > 64)
    throw new OperatorError(
      `"${name}" can't be a skill's name: write lower-case letters, digits and single hyphens, 64 at most.`,
    );
  await mkdir(folder, { recursive: true });
  await writeFile(file, newSkillText(name, description), { flag: 'wx' }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new OperatorError(`${file} exists already: edit it, or choose another name.`);
    throw error;
  });
  print(`${file} is written. Edit it; a running bot uses it at once.`);
}

/** Carries out the operator's decision on a skill that the bot wrote, as its files are now (D9). */
async function decide(
  operation: 'skill enable' | 'skill discard',
  { name, config, json }: SharedOptions & Readonly<{ name: string }>,
): Promise<void> {
  const decided = await askBot(config, operation, name);
  if (json === true) return printJson(decided);
  const said = {
    enabled: `${name} is enabled (${decided.hash?.slice(0, 16)}). A change to its files disables it again.`,
    discarded: `${name} is removed.`,
    restored: `The change of ${name} is removed; the version enabled before is back in use.`,
    unknown: '',
    changed: '',
  };
  print(said[decided.outcome]);
}
