import { createModels } from '../../agent/models/create-models.ts';
import { hostDiagnostics } from '../../conversations/host-diagnostics.ts';
import type { Config } from '../../config/complete-config.ts';
import { skillRules } from '../../config/runtime-config.ts';
import { allCommands, allTools } from '../../features/list.ts';
import type { Diagnostic } from '../../core/codes.ts';
import type { Skill } from '../../core/skill.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { skillNeeds, type SkillNeed } from '../../runs/requirements.ts';
import { catalogueBudget } from '../../skills/catalogue.ts';
import type { Registry } from '../../skills/registry.ts';
import { check, type Check, type Found } from './finding.ts';

/** How many entries Telegram's menu can have. */
const mostCommands = 100;

/** Checks all skills, and the sandbox in which they would run. */
export async function checkSkills(config: Config, registry: Registry, log: Log): Promise<readonly Check[]> {
  const rules = skillRules(config);
  const on = registry.skills.filter(
    ({ name, access }) =>
      rules.enabled && access.approved && (rules.skills.get(name)?.enabled ?? !access.optIn),
  );
  const commands = allCommands();
  const models = createModels(config.models, { log, clock: systemClock });
  const ofHost = hostDiagnostics(registry.skills, config, { models, commands, tools: allTools() });
  const { mode, why, needs } = await skillNeeds(config, on);
  const found = [
    ...registry.diagnostics,
    ...ofHost,
    ...needs.flatMap((need) => lacking(need, config)),
    ...checkMenu(on, commands.names.length),
    ...checkCatalogue(on, registry, config, models.get().contextWindow),
  ];
  const off = registry.skills.length - on.length;
  return [
    check('sandbox', mode, ofSandbox(mode, why, config)),
    check('skills', `${on.length} on, ${off} off`, found),
  ];
}

function ofSandbox(mode: string, why: string, { sandbox }: Config): readonly Found[] {
  if (mode === 'off')
    return [{ level: 'warning', code: 'SANDBOX_OFF', message: 'skills run without a sandbox' }];
  const isAsked = sandbox.mode === 'virtual';
  if (mode !== 'virtual' || isAsked) return [];
  return [{ level: 'warning', code: 'SANDBOX_VIRTUAL', message: `the sandbox is the virtual one: ${why}` }];
}

function lacking({ skill, missing, env, command }: SkillNeed, { path }: Config): readonly Found[] {
  const ofIt = (what: string, fix: string | undefined): Diagnostic & { fix?: string } => ({
    level: 'warning',
    code: 'SKILL_LACKS',
    message: `${skill} lacks ${what}`,
    fix,
  });
  return [
    ...(missing.length === 0 ? [] : [ofIt(missing.join(', '), command)]),
    ...(env.length === 0
      ? []
      : [
          ofIt(
            env.join(', '),
            `Write ${env.join(', ')} below [skills.${skill}] in ${path ?? 'config.toml'}.`,
          ),
        ]),
  ];
}

function checkMenu(on: readonly Skill[], commands: number): readonly Found[] {
  const entries = commands + on.filter(({ access }) => access.userInvocable).length;
  if (entries <= mostCommands) return [];
  const message = `the menu would have ${entries} commands`;
  return [{ level: 'note', code: 'MENU_FULL', message }];
}

function checkCatalogue(
  on: readonly Skill[],
  registry: Registry,
  { prompt }: Config,
  window: number | undefined,
): readonly Found[] {
  const names = new Set(on.map(({ name }) => name));
  const format = prompt.skillsFormat;
  const budgetChars = catalogueBudget(window, prompt.skillsBudgetChars);
  const { shortened, hidden } = registry.catalogue(({ name }) => names.has(name), {
    format,
    budgetChars,
    includeLocation: prompt.includeLocation,
  });
  if (shortened === 0) return [];
  const message = `the list of skills has ${budgetChars} characters: ${shortened} descriptions are cut, ${hidden} skills are not in it`;
  return [{ level: 'note', code: 'CATALOGUE_SHORTENED', message }];
}
