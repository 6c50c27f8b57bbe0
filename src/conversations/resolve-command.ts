import type { SkillRules } from '../core/access-settings.ts';
import { builtIns, type BuiltIn } from '../core/built-in-commands.ts';
import { decideSkill, type SkillUse } from '../access/decide-skill.ts';
import type { Message } from '../core/message.ts';
import type { Skill } from '../core/skill.ts';

/** What a message asks for by name. */
export type Resolved =
  | Readonly<{ kind: 'built-in'; name: BuiltIn; args: string }>
  | Readonly<{ kind: 'skill'; skill: Skill; args: string }>
  /** A skill that this person may use in a direct message, but not here (A11). */
  | Readonly<{ kind: 'elsewhere'; skill: Skill; hint: string }>;

type Registry = Readonly<{ get(name: string): Skill | undefined; skills: readonly Skill[] }>;

/** Reads a command against built-ins and skills; `undefined` is an ordinary message (I3, I4). */
export function resolveCommand(
  message: Pick<Message, 'command'>,
  registry: Registry,
  rules: SkillRules,
  use: SkillUse,
): Resolved | undefined {
  const { command } = message;
  if (command === undefined) return undefined;
  const builtIn = builtIns.find((name) => name === command.name);
  // A sentence calls nothing, whatever its first word; a built-in word alone does (I1).
  if (command.bare === true && (builtIn === undefined || command.args !== '')) return undefined;
  if (builtIn !== undefined && builtIn !== 'skill') {
    return { kind: 'built-in', name: builtIn, args: command.args };
  }
  const [name, args] = builtIn === 'skill' ? splitFirstWord(command.args) : [command.name, command.args];
  if (name === '') return { kind: 'built-in', name: 'skill', args: '' };
  const inner = builtIn === 'skill' ? builtIns.find((other) => other === name.toLowerCase()) : undefined;
  if (inner !== undefined) return { kind: 'built-in', name: inner, args };
  const skill = skillNamed(registry, name);
  if (skill === undefined)
    return builtIn === 'skill' ? { kind: 'built-in', name: 'skill', args: name } : undefined;
  const decision = decideSkill(skill, rules, use);
  if (decision.allowed) return { kind: 'skill', skill, args };
  if (decision.hint !== undefined) return { kind: 'elsewhere', skill, hint: decision.hint };
  return builtIn === 'skill' ? { kind: 'built-in', name: 'skill', args: name } : undefined;
}

/** Platforms without `-` in command names show it as `_` (I1). */
function skillNamed(registry: Registry, name: string): Skill | undefined {
  const wanted = name.toLowerCase();
  return registry.get(wanted) ?? registry.skills.find((skill) => skill.name.replaceAll('-', '_') === wanted);
}

function splitFirstWord(text: string): readonly [string, string] {
  const [, word = '', rest = ''] = /^\s*(\S*)\s*([^]*)$/.exec(text) ?? [];
  return [word, rest.trim()];
}
