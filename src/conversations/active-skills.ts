import { createInlineSkill } from '../runs/inline-skill.ts';
import type { InlineSkill } from '../runs/use-skill.ts';
import { decideSkill, isSensitive, type SkillUse } from '../access/decide-skill.ts';
import type { Skill } from '../core/skill.ts';
import type { Tool } from '../core/tool.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { FilledBody } from '../skills/registry.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import {
  createSkillsList,
  createSkillsSearch,
  createSkillsLoad,
  createSkillsReadFile,
} from '../tools/built-in/skill-lookup.ts';
import { createToolRestriction, type ToolRestriction } from '../tools/tool-restriction.ts';
import type { Host } from '../runs/work-deps.ts';
import type { OutsideTools } from '../tools/outside-tools.ts';
import type { SkillAuthoring } from '../authoring/skill-authoring.ts';

/** Skills as the main agent uses them in one turn (R1, U8), and what that leaves of its tools (T6). */
export type ActiveSkills = Readonly<{
  tools: readonly Tool[];
  inline: InlineSkill;
  restriction: ToolRestriction;
}>;

export function createActiveSkills({
  host: { runtime, log },
  skills: { library, sandbox, authoring },
  tools: { outside },
}: Readonly<{
  host: Pick<Host, 'runtime' | 'log'>;
  skills: Readonly<{
    library: SkillLibrary;
    sandbox: Pick<Sandbox, 'seen'>;
    authoring: Pick<SkillAuthoring, 'asItStands'>;
  }>;
  tools: Readonly<{ outside: Pick<OutsideTools, 'names'> }>;
}>): (turn: {
  visible(): readonly Skill[];
  /** How the person themselves may use a skill. */
  byPerson: SkillUse;
  names(): readonly string[];
}) => ActiveSkills {
  const make = {
    list: createSkillsList(),
    search: createSkillsSearch(),
    load: createSkillsLoad(),
    readFile: createSkillsReadFile(),
  };
  const body = async (skill: Skill, args?: string): Promise<FilledBody> => {
    const seenAt = skill.directory === undefined ? undefined : sandbox.seen('skill', skill.directory);
    const read = await library.current().body(skill.name, args, seenAt);
    // Judged after reading: what was read is what was approved (D9).
    if ((await authoring.asItStands(skill)).access.approved) return read;
    const message = `${skill.name} was changed and waits for approval`;
    return { ok: false, code: 'SKILL_DISABLED', message };
  };

  return ({ visible, byPerson, names }) => {
    const restriction = createToolRestriction({
      tools: names,
      elsewhere: outside.names,
      settings() {
        const { allowedToolsEnforcement, invalidAllowedTools } = runtime().config.skills;
        return { enforcement: allowedToolsEnforcement, invalid: invalidAllowedTools };
      },
      allowedNow: (name) => library.current().get(name)?.allowedTools,
      log,
    });
    /** While the model follows a skill that a person started, it may open it (U8). */
    const open = (): readonly Skill[] => {
      const seen = visible();
      const started = restriction.followed().flatMap(({ skill }) => library.current().get(skill) ?? []);
      const more = started.filter(
        (skill) => !seen.includes(skill) && decideSkill(skill, runtime().rules, byPerson).allowed,
      );
      return more.length === 0 ? seen : [...seen, ...more];
    };
    const isPrivate = (skill: Skill): boolean => isSensitive(skill, runtime().rules);
    const find = (name: string): Skill | undefined => open().find((skill) => skill.name === name);
    return {
      tools: [
        make.list(visible),
        make.search(visible),
        make.load({
          visible: open,
          find: async (name) => find(name) ?? (await library.rescan(), find(name)),
          body,
          pathOf: (directory) => sandbox.seen('skill', directory),
          contraction: restriction,
          isSensitive: isPrivate,
        }),
        make.readFile(open, isPrivate),
      ],
      inline: createInlineSkill({
        tools: names,
        elsewhere: outside.names,
        given: ({ name }) => runtime().config.skills.byName[name],
        body,
        contraction: restriction,
      }),
      restriction,
    };
  };
}
