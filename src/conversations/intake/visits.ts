import type { Users } from '../../access/users.ts';
import type { HomePage } from './home-page.ts';
import type { Presses } from './presses.ts';
import type { Overview } from '../overview.ts';
import type { ChannelEvent, Prompt, Visit } from '../../core/channel.ts';
import type { Message } from '../../core/message.ts';
import type { Skill } from '../../core/skill.ts';
import { sayIn } from '../../core/texts/say.ts';
import { oneLine } from '../../lib/text/text.ts';

const mostSkills = 3;

const longestTitle = 75;

/** Shows people their page, and acts on their presses there (H4). */
export type Visits = (
  event: Extract<ChannelEvent, { type: 'home' }>,
  say: (message: Message) => Promise<void>,
) => Promise<void>;

export function createVisits(options: { presses: Presses; page: HomePage }): Visits {
  const { presses, page } = options;
  return async ({ visit, showHome, ...more }, say) => {
    const { action, ...who } = visit;
    const told: string[] = [];
    if (action !== undefined) {
      const tell = (words: string): void => void told.push(words);
      const heard = async (message: Message): Promise<void> => {
        tell(sayIn(who.sender.language)`I answer in our direct message.`);
        await say(message);
      };
      await presses.press({ ...more, type: 'press', press: { ...who, action }, tell }, heard);
    }
    // The press may have changed it.
    showHome(await page(visit, told));
  };
}

/** Prompts for a person who opens their direct message (H4); none for who may not use the bot. */
export type SuggestPrompts = (visit: Visit) => Promise<readonly Prompt[]>;

export function createSuggestPrompts(options: {
  users: Pick<Users, 'mayAct'>;
  overview: Pick<Overview, 'usable'>;
}): SuggestPrompts {
  const { users, overview } = options;
  return async (visit) => {
    if (!(await users.mayAct(visit)).allowed) return [];
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

function startsAlone({ argumentHint = '' }: Skill): boolean {
  return argumentHint === '' || argumentHint.startsWith('[');
}
