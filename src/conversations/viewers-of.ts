import type { Viewer } from '../agent/show-to.ts';
import type { TurnContext } from './turn.ts';
import type { SkillRules } from '../core/access-settings.ts';
import { decideSkill, type SkillUse } from '../access/decide-skill.ts';
import type { Requester, Tool } from '../core/tool.ts';
import type { Registry } from '../skills/registry.ts';

/** May do what everybody here may. */
const anybody = '';

/** In a chat of several people: what the requester, and what everybody there may know of (A8, A11). */
export async function viewersOf(
  requester: Requester,
  given: Readonly<{
    use: SkillUse;
    registry: Pick<Registry, 'get'>;
    rules(): SkillRules;
    builtIn: ReadonlySet<string>;
    outside(requester: Requester): Promise<readonly Tool[]>;
  }>,
): Promise<TurnContext['viewers']> {
  if (requester.chatType === 'private') return undefined;
  const { use, registry, rules, builtIn, outside } = given;
  const sees = async (sender: string): Promise<Viewer> => {
    const names = new Set((await outside({ ...requester, sender })).map(({ name }) => name));
    return {
      tool: (name) => builtIn.has(name) || names.has(name),
      skill(name) {
        const skill = registry.get(name);
        if (skill === undefined) return false;
        const may = (by: SkillUse['by']): boolean =>
          decideSkill(skill, rules(), { ...use, sender, by }).allowed;
        return may('person') || may('model');
      },
    };
  };
  return {
    requester: { sender: requester.sender, ...(await sees(requester.sender)) },
    everybody: await sees(anybody),
  };
}
