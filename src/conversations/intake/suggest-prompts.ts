import type { Prompt, Visit } from '../../core/home.ts';
import type { Skill } from '../../core/skill.ts';
import { oneLine } from '../../lib/text/text.ts';
import { sayIn } from '../../core/texts/say.ts';
import type { People } from '../../access/users.ts';
import type { Overview } from '../overview.ts';

/** What a person who looks at their direct message may ask (H4); nothing for who may not use the bot. */
export type SuggestPrompts = (visit: Visit) => Promise<readonly Prompt[]>;

const mostSkills = 3;
const longestTitle = 75;

export function createSuggestPrompts(options: {
  people: Pick<People, 'mayAct'>;
  overview: Pick<Overview, 'usable'>;
}): SuggestPrompts {
  const { people, overview } = options;
  return async (visit) => {
    if (!(await people.mayAct(visit)).allowed) return [];
    const question = sayIn(visit.sender.language)`What can you do?`;
    const skills = (await overview.usable(visit)).filter(startsAlone).slice(0, mostSkills);
    return [
      { title: question, say: question },
      ...skills.map(({ name, description }) => ({
        title: oneLine(`${name}: ${description}`, longestTitle),
        start: name,
      })),
    ];
  };
}

/** A skill that needs no words beside its name. */
function startsAlone({ argumentHint = '' }: Skill): boolean {
  return argumentHint === '' || argumentHint.startsWith('[');
}
