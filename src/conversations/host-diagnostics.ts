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
import { listRunsScripts } from '../tools/allowed-tools.ts';
import type { ToolTable } from '../core/built-in-tools.ts';
import type { CommandTable } from '../core/chat-commands.ts';

/** Warnings about skills that depend on the whole config, such as missing tools or time limits that are cut. */
export function hostDiagnostics(
  skills: readonly Skill[],
  config: Config,
  { models, commands, tools }: Readonly<{ models: Models; commands: CommandTable; tools: ToolTable }>,
): readonly Diagnostic[] {
  const ofSkills = skills.flatMap((skill) => {
    const at = { level: 'warning', path: skill.path } as const;
    const given = config.skills.byName[skill.name];
    const model = given?.model ?? skill.model;
    const unknown = model === undefined ? undefined : models.check(model);
    const forked =
      skill.context === 'inline'
        ? whyForked(
            skill,
            { tools: [...mainTools(config, tools), ...lentBy(skill, tools)], builtInTools: tools },
            given,
          )
        : undefined;
    const command = commands.row(skill.name) !== undefined;
    const searches =
      skill.allowedTools?.some((tool) => tool === 'web_search' || tool === 'WebSearch') === true;
    const allowed = skill.allowedTools?.length ? skill.allowedTools : config.agents[skill.agent]?.tools;
    const scripts = listRunsScripts(allowed) ? [] : listSkillFiles(skill).scripts;
    return [
      ...(scripts.length === 0
        ? []
        : [
            {
              ...at,
              code: 'SCRIPTS_NOT_ALLOWED',
              message: `${skill.name} has scripts that it may not run (${scripts.slice(0, 3).join(', ')}${scripts.length > 3 ? ', …' : ''}): its list of tools names no shell. Add skills_run_script to allowed-tools if it needs them`,
              field: 'allowed_tools',
            },
          ]),
      ...(unknown === undefined ? [] : [{ ...unknown, ...at }]),
      ...(skill.timeoutSeconds <= config.sandbox.timeoutSeconds
        ? []
        : [
            {
              ...at,
              code: 'TIMEOUT_CAPPED',
              message: `${skill.name} asks for ${skill.timeoutSeconds} s and gets ${config.sandbox.timeoutSeconds} s: raise [sandbox] timeout_seconds in config.toml if it needs more`,
              field: 'timeout_seconds',
            },
          ]),
      ...(command
        ? [
            {
              ...at,
              code: 'NAME_TAKEN',
              message: `/${skill.name} is a built-in command and wins: people can't start this skill by name until it is renamed`,
            },
          ]
        : []),
      ...(searches && config.tools.web_search === undefined
        ? [
            {
              ...at,
              level: 'note' as const,
              code: 'WEB_SEARCH_MISSING',
              message: `${skill.name} would search the web, and no provider is set: write [tools.web_search] into config.toml, with provider = "brave" and api_key, or provider = "searxng" and base_url. Until then it does without`,
              field: 'allowed_tools',
            },
          ]
        : []),
      ...(forked === undefined
        ? []
        : [
            {
              ...at,
              code: 'INLINE_FORKED',
              message: `${skill.name} asks for context: inline and is a run of its own: ${forked}`,
              field: 'context',
            },
          ]),
    ];
  });
  return [...unusedTables(skills, config), ...ofSkills];
}

/** Warns of `[skills.NAME]` tables without such a skill: with a misspelt name a skill would have no rules (S1). */
export function unusedTables(
  skills: readonly Skill[],
  config: Pick<Config, 'skills' | 'path'>,
): readonly Diagnostic[] {
  const names = skills.map(({ name }) => name);
  const unused = Object.keys(config.skills.byName).filter((name) => !names.includes(name));
  if (unused.length === 0) return [];
  const placeOf = placeInFile(config.path);
  return unused.map((name) => {
    const line = placeOf(['skills', name])?.line;
    const [guess] = nearest(name, names);
    const fix =
      guess === undefined
        ? 'it counts once a skill of that name is loaded; else remove it'
        : `did you mean [skills.${guess}]?`;
    return {
      level: 'warning',
      code: 'SKILL_UNKNOWN',
      message: `[skills.${name}] is for no skill that is loaded, so nothing follows from it: ${fix}`,
      field: `skills.${name}`,
      path: config.path,
      line,
    };
  });
}
