import { chatTypes, type ChatType } from '../../core/conversation.ts';
import type { Diagnostic } from '../../core/codes.ts';
import type { Skill, SkillAccess } from '../../core/skill.ts';
import { deepFreeze } from '../../lib/json/json-values.ts';
import type { Definition } from './skill-definition.ts';

/**
 * The skill that a name stands for: the first definition, its access made stricter by each one it shadows (D3). A copy
 * in the user origin stands by its own word; a workspace copy is given no more than the copy below it, but for env: whose values the operator writes for this very name.
 */
export function mergeDefinitions(own: Definition, shadowed: readonly Definition[]): Skill {
  const { flat: _flat, access: _access, ...rest } = own;
  const diagnostics: Diagnostic[] = [...own.diagnostics];
  for (const { origin, path } of shadowed) {
    const message = `replaces the ${origin} skill of the same name at ${path}`;
    diagnostics.push({ level: 'warning', code: 'SHADOWED', message, path: own.path });
  }
  const below = own.origin === 'workspace' ? shadowed[0] : undefined;
  const given = below === undefined ? {} : narrowGrants(own, below, diagnostics);
  return deepFreeze({
    ...rest,
    ...given,
    access: mergeAccess(own, own.origin === 'user' ? [] : shadowed),
    shadows: shadowed.map(({ origin, path }) => ({ origin, path })),
    diagnostics,
  });
}

/** A skill that the bot wrote and nobody answerable has enabled yet: off, and given nothing (D9). */
export function unapproved(own: Definition): Skill {
  const skill = mergeDefinitions(own, []);
  return deepFreeze({
    ...skill,
    env: [],
    capabilities: [],
    network: [],
    packages: [],
    access: { ...skill.access, approved: false, why: [...skill.access.why, waitsForApproval(skill.name)] },
  });
}

function waitsForApproval(name: string): string {
  return `off: written by the bot, waits for approval (skillet skill enable ${name})`;
}

/** Where a definition by itself lets a skill be used (A2). */
export function allowedChatTypesOf({ access }: Definition): readonly ChatType[] {
  return access.chatTypes ?? (access.sensitive ? ['private'] : chatTypes);
}

function mergeAccess(own: Definition, shadowed: readonly Definition[]): SkillAccess {
  const why: string[] = [];
  let types: readonly ChatType[] = allowedChatTypesOf(own);
  let { sensitive, optIn, disableModelInvocation, userInvocable } = own.access;
  for (const definition of shadowed) {
    const { access, origin } = definition;
    const says = (what: string): void => void why.push(`${what}: the ${origin} copy it replaces says so`);
    const narrowed = types.filter((type) => allowedChatTypesOf(definition).includes(type));
    if (narrowed.length < types.length) says(`only in ${narrowed.join(', ') || 'no'} chats`);
    types = narrowed;
    if (access.sensitive && !sensitive) says('sensitive');
    if (access.optIn && !optIn) says('off until enabled in config');
    if (access.disableModelInvocation && !disableModelInvocation) says('not for the model');
    if (!access.userInvocable && userInvocable) says('not for people');
    sensitive ||= access.sensitive;
    optIn ||= access.optIn;
    disableModelInvocation ||= access.disableModelInvocation;
    userInvocable &&= access.userInvocable;
  }
  return {
    chatTypes: types,
    sensitive,
    optIn,
    approved: true,
    disableModelInvocation,
    userInvocable,
    why,
  };
}

type Grant = 'capabilities' | 'network' | 'packages';

function narrowGrants(own: Definition, below: Definition, diagnostics: Diagnostic[]): Pick<Skill, Grant> {
  const keep = (grant: Grant): readonly string[] => {
    const kept = own[grant].filter((item) => below[grant].includes(item));
    const lost = own[grant].filter((item) => !kept.includes(item));
    if (lost.length > 0) {
      const message = `${grant}: ${lost.join(', ')} is not given to a workspace copy; the ${below.origin} skill has no such entry`;
      diagnostics.push({ level: 'warning', code: 'GRANT_NARROWED', message, path: own.path, field: grant });
    }
    return kept;
  };
  return {
    capabilities: keep('capabilities'),
    network: keep('network'),
    packages: keep('packages'),
  };
}
