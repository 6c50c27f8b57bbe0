import { decideSkill, isSensitive, type SkillUse } from '../access/decide-skill.ts';
import type { ToolTable } from '../core/built-in-tools.ts';
import type { Envelope } from '../core/envelope.ts';
import { skillNamed, type Skill } from '../core/skill.ts';
import type { Tool } from '../core/tool.ts';
import { escapeLabels } from '../lib/text/escape-labels.ts';
import type { InlineSkill, SkillRequest } from '../runs/use-skill.ts';
import type { AgentDeps } from '../runs/agent-deps.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { FilledBody } from '../skills/registry.ts';
import { listSkillFiles } from '../skills/skill-files.ts';
import { namedElsewhere, namesListed } from '../tools/allowed-tools.ts';
import {
  createSkillsList,
  createSkillsSearch,
  createSkillsLoad,
  createSkillsReadFile,
} from '../tools/built-in/skill-lookup.ts';
import type { OutsideTools } from '../tools/outside-tools.ts';
import {
  createToolRestriction,
  skillInstructions,
  type LentTools,
  type ToolRestriction,
} from '../tools/tool-restriction.ts';

/** The skills that a turn follows, and the tools that they leave it (R1, U8, T6). */
export type ActiveSkills = Readonly<{
  tools: readonly Tool[];
  inline: InlineSkill;
  restriction: ToolRestriction;
  /** Names of the skills that this turn follows, in the order in which it began to. */
  activeSkills(): readonly string[];
  /**
   * The skill whose files the file tools may read: the last followed one that is still allowed. Undefined: no such
   * skill (U8).
   */
  readable(): Skill | undefined;
}>;

export type ActiveSkillDeps = Pick<AgentDeps, 'runtime' | 'log' | 'library' | 'asItStands' | 'builtInTools'> &
  Readonly<{
    skillSandbox: Readonly<{ sandbox: Sandbox }>;
    outside: OutsideTools;
  }>;

/**
 * The tools that list, search, load and read skills. They are made once and each turn binds them to what it may see.
 */
export type LookupTools = ReturnType<typeof createLookupTools>;

export function createLookupTools() {
  return {
    list: createSkillsList(),
    search: createSkillsSearch(),
    load: createSkillsLoad(),
    readFile: createSkillsReadFile(),
  };
}

type SkillsOfTurn = Readonly<{
  visible(): readonly Skill[];
  byPerson: SkillUse;
  /** Names of the turn's tools before any skill restricts them. */
  names(): readonly string[];
  lent: LentTools;
}>;

export function activeSkillsOf(turn: SkillsOfTurn, lookup: LookupTools, deps: ActiveSkillDeps): ActiveSkills {
  const { runtime, log, library } = deps;
  const { sandbox } = deps.skillSandbox;
  const restriction = createToolRestriction({
    tools: turn.names,
    elsewhere: deps.outside.names,
    lent: turn.lent,
    builtInTools: deps.builtInTools,
    settings() {
      const { allowedToolsEnforcement, invalidAllowedTools } = runtime().config.skills;
      return { enforcement: allowedToolsEnforcement, invalid: invalidAllowedTools };
    },
    now: (name) => library.current().get(name),
    log,
  });
  const maxBytes = (): number => runtime().config.skills.maxBytes;
  const open = (): readonly Skill[] => openSkills(turn, restriction, deps);
  const find = (name: string): Skill | undefined => skillNamed(open(), name);
  const isPrivate = (skill: Skill): boolean => isSensitive(skill, runtime().rules);
  return {
    tools: [
      lookup.list(turn.visible),
      lookup.search(turn.visible),
      lookup.load({
        visible: open,
        find: async (name) => find(name) ?? (await library.rescan(), find(name)),
        body: (skill) => approvedBody(skill, undefined, deps),
        maxBytes,
        pathOf: (directory) => sandbox.seen('skill', directory),
        restriction: restriction,
        isSensitive: isPrivate,
      }),
      lookup.readFile(open, isPrivate, maxBytes),
    ],
    inline: (skill, request) => followInline(skill, request, { restriction, deps }),
    restriction,
    activeSkills: () => restriction.activeSkills().map(({ skill }) => skill),
    readable: () =>
      restriction
        .activeSkills()
        .flatMap(({ skill }) => find(skill) ?? [])
        .at(-1),
  };
}

/** The skills that the model may open: the visible ones, and those that the person started and still may use (U8). */
function openSkills(
  { visible, byPerson }: SkillsOfTurn,
  restriction: ToolRestriction,
  { runtime, library }: ActiveSkillDeps,
): readonly Skill[] {
  const seen = visible();
  const started = restriction.activeSkills().flatMap(({ skill }) => library.current().get(skill) ?? []);
  const more = started.filter(
    (skill) => !seen.includes(skill) && decideSkill(skill, runtime().rules, byPerson).allowed,
  );
  return more.length === 0 ? seen : [...seen, ...more];
}

async function approvedBody(
  skill: Skill,
  args: string | undefined,
  { runtime, library, skillSandbox: { sandbox }, asItStands }: ActiveSkillDeps,
): Promise<FilledBody> {
  const skillPath = skill.directory === undefined ? undefined : sandbox.seen('skill', skill.directory);
  const { maxBytes } = runtime().config.skills;
  const read = await library.current().body(skill.name, args, { skillPath, maxBytes });
  // This is checked after reading, so that the approval covers what was read (D9).
  if ((await asItStands(skill)).access.approved) return read;
  const message = `${skill.name} was changed and waits for approval`;
  return { ok: false, code: 'SKILL_DISABLED', message };
}

/** Returns the skill's instructions, or the reason why the skill runs on its own instead (U8, I5). */
async function followInline(
  skill: Skill,
  { args: given, message }: SkillRequest,
  { restriction, deps }: Readonly<{ restriction: ToolRestriction; deps: ActiveSkillDeps }>,
): ReturnType<InlineSkill> {
  const { runtime, outside, builtInTools } = deps;
  const { byName, maxBytes } = runtime().config.skills;
  const { name, allowedTools = [] } = skill;
  const mine = restriction.offered({ skill: name, allowedTools });
  const why = whyForked(skill, { tools: mine, elsewhere: outside.names(), builtInTools }, byName[skill.name]);
  if (why !== undefined) return { forked: `${skill.name} is a run of its own here: ${why}` };
  const args = given ?? message;
  const loaded = await skillInstructions(skill, {
    body: approvedBody(skill, args, deps),
    maxBytes,
    change: ({ text, substituted }) => (substituted || args === '' ? text : `${text}\n\nARGUMENTS: ${args}`),
    restriction: restriction,
  });
  if (!loaded.ok) return loaded;
  const readers = ['skills_read_file', ...namesListed(allowedTools, ['read_file'])].filter((reader) =>
    mine.includes(reader),
  );
  const data = [...filesOf(skill, readers), loaded.text].join('\n');
  const { warnings, activeSkill } = loaded;
  const envelope: Envelope = { ok: true, data, warnings, errors: [], activeSkill };
  return { envelope };
}

type SkillSettings = Readonly<{ model?: string | undefined; env: Readonly<Record<string, string>> }>;

/** Returns why the main agent can't follow the skill's instructions itself. Undefined means that it can (U8). */
export function whyForked(
  skill: Skill,
  of: Readonly<{ tools: readonly string[]; elsewhere?: readonly string[]; builtInTools: ToolTable }>,
  settings: SkillSettings | undefined,
): string | undefined {
  if (skill.env.length > 0 || Object.keys(settings?.env ?? {}).length > 0)
    return 'it has an environment of its own';
  if (skill.capabilities.length > 0) return 'it has capabilities of its own';
  if (skill.packages.length > 0) return 'it needs packages';
  if (listSkillFiles(skill).scripts.length > 0) return 'it has scripts';
  // Undefined is the default model, too.
  if (!['default', undefined].includes(settings?.model ?? skill.model)) return 'it has a model of its own';
  const lacking = namedElsewhere(skill.allowedTools ?? [], of.tools, of);
  return lacking.length === 0 ? undefined : `it needs tools that the main agent lacks: ${lacking.join(', ')}`;
}

function filesOf(skill: Skill, readers: readonly string[]): readonly string[] {
  const { files, cut } = listSkillFiles(skill);
  if (files.length === 0) return [];
  const listed = files.map((file) => `- ${escapeLabels(file)}`);
  return [`Files of the skill, for ${readers.join(' and ')}:`, ...listed, ...(cut ? ['- …'] : [])];
}
