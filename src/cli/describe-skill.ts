import type { SkillNeed } from '../runs/requirements.ts';
import { skillRules } from '../config/runtime-config.ts';
import type { Config } from '../config/complete-config.ts';
import { allowedChats, allowedChatTypes, isSensitive } from '../access/decide-skill.ts';
import type { Skill } from '../core/skill.ts';
import { oneLine, printable } from '../lib/text/text.ts';
import { bashKnowsEnv } from '../tools/allowed-tools.ts';

/** What `skill list` and `skill show` say of a skill beside its file: the rule in force, people and chats included (D3, A8), and its env (U3). */
export function describe(skill: Skill, config: Config) {
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
    /** Absent: every one of those types. */
    chats: allowedChats(skill.name, rules),
    /** Absent: everybody. */
    users: settings?.allowUsers,
    sensitive: isSensitive(skill, rules),
    why: skill.access.why,
    givenEnv,
    envInBash:
      skill.env.length + givenEnv.length > 0 && bashKnowsEnv(skill.allowedTools, settings?.envInBash),
  };
}

/** What keeps a skill, or some script of it, from working on this system (R6, U3). */
export type Lacking = Readonly<{
  missing?: readonly string[];
  missingPython?: readonly string[];
  missingEnv?: readonly string[];
  command?: string;
}>;

/** Only what there is to say. */
export function lackingOf({ name }: Skill, needs: readonly SkillNeed[]): Lacking {
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

/** `needs PERPLEXITY_API_KEY`, in short; empty where nothing is missing. */
export function noteOf({ missing = [], missingPython = [], missingEnv = [] }: Lacking): string {
  const all = [...missingEnv, ...missing, ...missingPython];
  return all.length === 0 ? '' : `needs ${all.slice(0, 3).join(', ')}${all.length > 3 ? ', …' : ''}`;
}

/** The lines below a skill: whom the rule in force leaves out and why, where its keys go, how to get what is missing. */
export function linesBelow(row: Row): readonly string[] {
  const { name, chats, users, why, envInBash, missing, missingEnv, command } = row;
  const lacks = [...(missing ?? []), ...(row.missingPython ?? [])].join(', ');
  return [
    ...(chats === undefined ? [] : [`only in these chats: ${chats.join(', ')}`]),
    ...(users === undefined ? [] : [`only for these people: ${users.join(', ') || 'nobody'}`]),
    ...why,
    ...(envInBash ? ['its env reaches commands that the model writes, too (bash)'] : []),
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

/** What its front matter says, as `skill show` prints it. */
export function fieldsOf(skill: Skill, config: Config): readonly (readonly [what: string, text: string])[] {
  const settings = config.skills.byName[skill.name];
  const given = Object.keys(settings?.env ?? {});
  const env = [...new Set([...skill.env, ...given])].map((name) =>
    skill.env.includes(name) ? name : `${name} (given by the operator)`,
  );
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
    ['packages', skill.packages.join(', ')],
    ['programs', skill.programs.join(', ')],
    ['Python packages', skill.python.join(', ')],
    ['capabilities', skill.capabilities.join(', ')],
    ['network', [...new Set([...skill.network, ...(settings?.network ?? [])])].join(', ')],
    ['tools', skill.allowedTools?.join(', ')],
    ...Object.entries(skill.metadata).map(([key, text]) => [`metadata ${key}`, text] as const),
    ...Object.entries(skill.others).map(([key, text]) => [`${key} (no meaning here)`, text] as const),
  ];
  return texts.flatMap(([what, text = '']) =>
    text === '' ? [] : [[what, printable(oneLine(text, 400))] as const],
  );
}
