import type { Diagnostic } from '../../core/codes.ts';
import { chatTypes, type ChatType } from '../../core/conversation.ts';
import { slugOf, type SkillOrigin, type Skill, type SkillAccess } from '../../core/skill.ts';
import { deepFreeze } from '../../lib/json/json-values.ts';
import { skilletHere } from '../../core/skillet-here.ts';

/** How many code points a name may have (F6). */
export const nameLimit = 64;

/** Access as the file has it, before shadowed definitions restrict it (D3). */
type OwnAccess = Readonly<{
  /** Undefined: the default, all chats or only direct ones for a sensitive skill (A2). */
  chatTypes?: readonly ChatType[];
  sensitive: boolean;
  optIn: boolean;
  disableModelInvocation: boolean;
  userInvocable: boolean;
}>;

export type Definition = Readonly<
  Omit<Skill, 'access' | 'shadows'> & {
    access: OwnAccess;
    /** True for a skill that is a single file. A folder of the same name wins over it (D2). */
    flat: boolean;
  }
>;

export type SkillPlace = Readonly<{
  path: string;
  /** The skill's folder. Undefined for a flat file. */
  directory?: string;
  origin: SkillOrigin;
  root?: string;
  bytes: Uint8Array;
  /** True if the file has more bytes than these. */
  cut: boolean;
}>;

export type ParseResult =
  | Readonly<{ ok: true; definition: Definition }>
  | Readonly<{
      ok: false;
      diagnostics: readonly Diagnostic[];
      name: string;
      /** True if no older version may replace the file, because it may have restricted access (D7). */
      accessBroken: boolean;
    }>;

/**
 * What is wrong with a name by the specification, one sentence each. `directory` has to be the same name after NFKC
 * normalisation (F6).
 */
export function nameProblems(written: string, directory: string | undefined): readonly string[] {
  const name = written.normalize('NFKC');
  const length = [...name].length;
  const problems: string[] = [];
  if (length > nameLimit) problems.push(`"${name}" has ${length} characters; at most ${nameLimit}`);
  if (name !== name.toLowerCase()) problems.push(`"${name}" has upper-case letters; use lower case`);
  if (/^-|-$/.test(name)) problems.push(`"${name}" begins or ends with "-"`);
  if (name.includes('--')) problems.push(`"${name}" has "--"; use a single "-"`);
  if (!/^[\p{L}\p{N}-]*$/u.test(name)) problems.push(`"${name}" may hold letters, digits and "-" only`);
  if (directory !== undefined && directory.normalize('NFKC') !== name)
    problems.push(`"${name}" must be the folder's name, "${directory}"`);
  return problems;
}

/**
 * The first definition, restricted by each one that it shadows (D3). A user's copy is not restricted. A copy of the
 * workspace or of `.agents` gets no more hosts and capabilities than the one below it. Packages are needs, not grants, so they are checked as
 * always.
 */
export function mergeDefinitions(own: Definition, shadowed: readonly Definition[]): Skill {
  const { flat: _flat, access: _access, ...rest } = own;
  const diagnostics: Diagnostic[] = [...own.diagnostics];
  for (const { origin, path } of shadowed) {
    const message = `replaces the ${origin} skill of the same name at ${path}`;
    diagnostics.push({ level: 'warning', code: 'SHADOWED', message, path: own.path });
  }
  const below = ['agents', 'workspace'].includes(own.origin) ? shadowed[0] : undefined;
  const given = below === undefined ? {} : narrowGrants(own, below, diagnostics);
  return deepFreeze({
    ...rest,
    ...given,
    access: mergeAccess(own, own.origin === 'user' ? [] : shadowed),
    shadows: shadowed.map(({ origin, path }) => ({ origin, path })),
    diagnostics,
  });
}

/** A skill that the bot wrote and nobody enabled: it is off and has no grants (D9). */
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
  return `off: written by the bot, waits for approval (${skilletHere()} skill enable ${name})`;
}

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

type Grant = 'capabilities' | 'network';

function narrowGrants(own: Definition, below: Definition, diagnostics: Diagnostic[]): Pick<Skill, Grant> {
  const keep = (grant: Grant): readonly string[] => {
    const kept = own[grant].filter((item) => below[grant].includes(item));
    const lost = own[grant].filter((item) => !kept.includes(item));
    if (lost.length > 0) {
      const fix =
        grant === 'network'
          ? `give it by network = ["${lost.join('", "')}"] below [skills.${own.name}], or give the copy a name of its own`
          : 'give the copy a name of its own';
      const message = `${grant}: ${lost.join(', ')} is not given to a copy of origin ${own.origin}; the ${below.origin} skill has no such entry: ${fix}`;
      diagnostics.push({ level: 'warning', code: 'GRANT_NARROWED', message, path: own.path, field: grant });
    }
    return kept;
  };
  return {
    capabilities: keep('capabilities'),
    network: keep('network'),
  };
}

/**
 * The text of a new SKILL.md, which passes `validate --strict`. Throws RangeError for an invalid name or description.
 */
export function newSkillText(name: string, description: string): string {
  const problems = name === '' ? ['give the skill a name'] : nameProblems(name, undefined);
  if (problems.length > 0)
    throw new RangeError(`${problems.join('; ')}; try "${slugOf(name) || 'my-skill'}"`);
  const flat = description.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  if (flat === '' || [...flat].length > 1024)
    throw new RangeError('describe the skill in 1 to 1024 characters');
  // The reference reader ends front matter at any "---".
  const quoted = flat.replace(/-{3,}/g, '--').replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `---
name: ${name}
description: "${quoted}"
---

# ${name}

Say here what to do, step by step: what is asked for, which tools or scripts to use, what the answer looks like.

1. Read the request.
2. Do the work.
3. Answer with the result, and say what could not be done.
`;
}
