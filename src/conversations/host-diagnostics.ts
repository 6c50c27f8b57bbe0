import { whyForked } from './active-skills.ts';
import { lentBy } from './lent-tools.ts';
import type { Models } from '../core/model.ts';
import type { Config } from '../config/complete-config.ts';
import { placeInFile } from '../config/config-problem.ts';
import type { Diagnostic } from '../core/codes.ts';
import { nearest } from '../lib/text/text.ts';
import type { Skill } from '../core/skill.ts';
import { listSkillFiles } from '../skills/skill-files.ts';
import { mainTools } from '../tools/main-tools.ts';
import type { ToolTable } from '../core/built-in-tools.ts';
import { listRunsScripts } from '../tools/allowed-tools.ts';
import type { CommandTable } from '../core/chat-commands.ts';

type Host = Readonly<{ models: Models; commands: CommandTable; tools: ToolTable }>;

/** Warnings about skills that depend on the whole config, such as missing tools or time limits that are cut. */
export function hostDiagnostics(skills: readonly Skill[], config: Config, host: Host): readonly Diagnostic[] {
  return [...unusedTables(skills, config), ...skills.flatMap((skill) => aboutSkill(skill, config, host))];
}

function aboutSkill(skill: Skill, config: Config, { models, commands, tools }: Host): readonly Diagnostic[] {
  const { name, path, timeoutSeconds } = skill;
  const model = config.skills.byName[name]?.model ?? skill.model;
  const unknown = model === undefined ? undefined : models.check(model);
  const warnings: readonly (Omit<Diagnostic, 'level' | 'path'> | undefined)[] = [
    scriptsNotAllowed(skill, config),
    unknown,
    timeoutSeconds <= config.sandbox.timeoutSeconds
      ? undefined
      : {
          code: 'TIMEOUT_CAPPED',
          message: `${name} asks for ${timeoutSeconds} s and gets ${config.sandbox.timeoutSeconds} s: raise [sandbox] timeout_seconds in config.toml if it needs more`,
          field: 'timeout_seconds',
        },
    commands.row(name) === undefined
      ? undefined
      : {
          code: 'NAME_TAKEN',
          message: `/${name} is a built-in command and wins: people can't start this skill by name until it is renamed`,
        },
  ];
  const found = warnings.filter((warning) => warning !== undefined);
  return [
    ...found.map((warning): Diagnostic => ({ ...warning, level: 'warning', path })),
    ...searchMissing(skill, config),
    ...inlineForked(skill, config, tools),
  ];
}

function scriptsNotAllowed(skill: Skill, { agents }: Config): Omit<Diagnostic, 'level' | 'path'> | undefined {
  const allowed = skill.allowedTools?.length ? skill.allowedTools : agents[skill.agent]?.tools;
  const scripts = listRunsScripts(allowed) ? [] : listSkillFiles(skill).scripts;
  if (scripts.length === 0) return undefined;
  const named = `${scripts.slice(0, 3).join(', ')}${scripts.length > 3 ? ', …' : ''}`;
  return {
    code: 'SCRIPTS_NOT_ALLOWED',
    message: `${skill.name} has scripts that it may not run (${named}): its list of tools names no shell. Add skills_run_script to allowed-tools if it needs them`,
    field: 'allowed_tools',
  };
}

function searchMissing({ name, path, allowedTools }: Skill, { tools }: Config): readonly Diagnostic[] {
  const searches = allowedTools?.some((tool) => tool === 'web_search' || tool === 'WebSearch') === true;
  if (!searches || tools.web_search !== undefined) return [];
  return [
    {
      level: 'note',
      path,
      code: 'WEB_SEARCH_MISSING',
      message: `${name} works better with web search. To enable it, write [tools.web_search] into config.toml, with provider = "brave" and api_key, or provider = "searxng" and base_url`,
      field: 'allowed_tools',
    },
  ];
}

function inlineForked(skill: Skill, config: Config, builtInTools: ToolTable): readonly Diagnostic[] {
  if (skill.context !== 'inline') return [];
  const tools = [...mainTools(config, builtInTools), ...lentBy(skill, builtInTools)];
  const forked = whyForked(skill, { tools, builtInTools }, config.skills.byName[skill.name]);
  if (forked === undefined) return [];
  return [
    {
      level: 'warning',
      path: skill.path,
      code: 'INLINE_FORKED',
      message: `${skill.name} asks for context: inline and is a run of its own: ${forked}`,
      field: 'context',
    },
  ];
}

/** Warns of `[skills.NAME]` tables without such a skill: with a misspelt name a skill would have no rules (S1). */
export function unusedTables(skills: readonly Skill[], config: Config): readonly Diagnostic[] {
  const names = skills.map(({ name }) => name);
  const unused = Object.keys(config.skills.byName).filter((name) => !names.includes(name));
  if (unused.length === 0) return [];
  const placeOf = placeInFile(config.path);
  return unused.map((name) => {
    const line = placeOf(['skills', name])?.line;
    const [guess] = nearest(name, names);
    const fix =
      guess === undefined ? 'add that skill, or remove the table' : `did you mean [skills.${guess}]?`;
    return {
      level: 'warning',
      code: 'SKILL_UNKNOWN',
      message: `[skills.${name}] has no effect, because no skill of that name is loaded: ${fix}`,
      field: `skills.${name}`,
      path: config.path,
      line,
    };
  });
}
