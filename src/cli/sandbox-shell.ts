import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { openSkillSandbox } from '../skills/open-library.ts';
import { scratchFolders } from '../tools/built-in/run-folders.ts';
import type { Config } from '../config/complete-config.ts';
import { OperatorError } from '../core/errors.ts';
import type { Skill } from '../core/skill.ts';
import type { ShellEnd, ShellRequest } from '../sandbox/sandbox.ts';
import { skillEnvironment } from '../sandbox/script-command.ts';
import { lockedSandbox } from '../skills/install/locked-skill-store.ts';
import { openConfig } from './open-config.ts';
import { openLog } from './open-log.ts';
import { noSuchSkill, skillsHere } from './skills-here.ts';
import { skilletHere } from '../core/skillet-here.ts';

/**
 * Opens a shell in which a person sees what a skill's scripts see (R6), with a scratch folder that is removed
 * afterwards. The exit code is that of the shell.
 */
export async function openSandboxShell(given: Readonly<{ skill?: string; config?: string }>): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new OperatorError(
      `a shell needs a terminal on its input and output; what runs without one is a script of a skill, tried by \`${skilletHere()} skill test NAME\``,
    );
  const config = await openConfig(given.config);
  const skill = given.skill === undefined ? undefined : await findSkill(config, given.skill);
  const { sandbox } = await openSkillSandbox(config, openLog(config, 'warn').log);
  const scratches = scratchFolders(config.bot.workspace);
  await mkdir(scratches, { recursive: true, mode: 0o700 });
  const scratch = await mkdtemp(path.join(path.resolve(scratches), 'shell-'));
  const ending = new AbortController();
  const stop = (): void => ending.abort();
  process.once('SIGTERM', stop).once('SIGHUP', stop);
  try {
    const { shell } = skill === undefined ? sandbox : lockedSandbox(sandbox, skill);
    if (shell === undefined) throw new OperatorError(noShell[sandbox.mode === 'off' ? 'off' : 'virtual']);
    const request = { ...ofSkill(config, skill), scratch, signal: ending.signal };
    process.stderr.write(`${describe(sandbox.mode, request)}\n`);
    end(await shell(request));
  } finally {
    process.off('SIGTERM', stop).off('SIGHUP', stop);
    await rm(scratch, { recursive: true, force: true });
    await sandbox.close();
  }
}

const noShell = {
  off: 'the sandbox is off: scripts see this system as the user of the bot, and so does any shell of that user',
  virtual:
    'the virtual sandbox is a shell in memory without programs, which nobody can sit at: install bubblewrap (apt-get install bubblewrap) and set [sandbox] mode = "auto"',
} as const;

async function findSkill(config: Config, name: string): Promise<Skill> {
  const { get, names } = await skillsHere(config);
  const found = get(name);
  if (found === undefined) throw noSuchSkill(name, names);
  return found;
}

/** What the shell gets of a skill. It opens even if some variables are not set. */
function ofSkill(
  config: Config,
  skill: Skill | undefined,
): Pick<ShellRequest, 'skillDirectory' | 'network' | 'env'> {
  if (skill === undefined) return { network: [], env: {} };
  const settings = config.skills.byName[skill.name];
  const { env, missing } = skillEnvironment(skill, settings?.env ?? {});
  if (missing.length > 0)
    process.stderr.write(`not set, so absent here: ${missing.join(', ')} ([skills.${skill.name}])\n`);
  return {
    skillDirectory: skill.directory,
    network: [...new Set([...skill.network, ...(settings?.network ?? [])])],
    env,
  };
}

function describe(mode: string, { skillDirectory, network, env }: ShellRequest): string {
  const folders = [
    ...(skillDirectory === undefined ? [] : [`/skill (${skillDirectory}, read-only)`]),
    '/scratch (gone when the shell ends)',
  ];
  const names = Object.keys(env);
  return [
    `sandbox ${mode}: ${folders.join(', ')}`,
    `network: ${network.length === 0 ? 'none' : network.join(', ')}`,
    ...(names.length === 0 ? [] : [`environment: ${names.join(', ')}`]),
  ].join('; ');
}

function end(ended: ShellEnd): void {
  if (ended.status === 'exited') {
    process.exitCode = ended.exitCode;
    return;
  }
  const why =
    ended.status === 'unavailable'
      ? ended.message
      : `the shell was ended: it met the limit of ${ended.reason}`;
  throw new OperatorError(why);
}
