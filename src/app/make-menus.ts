import type { SkillRules } from '../core/access-settings.ts';
import type { MenuEntry, Menus } from '../core/channel.ts';
import type { ChatType } from '../core/conversation.ts';
import { decideSkill } from '../core/decide-skill.ts';
import type { Skill } from '../core/skill.ts';
import { oneLine } from '../core/text.ts';
import { builtIns } from './resolve-command.ts';

const builtIn: readonly MenuEntry[] = [
  { name: 'help', description: 'What I can do and how to ask for it' },
  { name: 'skills', description: 'The skills you can use here' },
  { name: 'skill', description: 'Start a skill by its name' },
  { name: 'new', description: 'Start a new conversation' },
  { name: 'stop', description: 'Stop what I am doing' },
  { name: 'status', description: 'How I am doing' },
  { name: 'tools', description: 'What I and my skills can use here' },
  { name: 'settings', description: 'Set up the tools in this chat' },
  { name: 'whoami', description: 'Your id and role' },
];

/** The `/` menus (I1): built-in commands and the skills anybody may use in such a chat; a skill with lists of chats or users shows in none. */
export function makeMenus(skills: readonly Skill[], rules: SkillRules): Menus {
  const entries = (chatType: ChatType): readonly MenuEntry[] => [
    ...builtIn,
    ...skills
      .filter(({ name }) => !builtIns.some((taken) => taken === name))
      .filter(
        (skill) =>
          decideSkill(skill, rules, { chatType, chatIds: [], external: false, sender: '', by: 'person' })
            .allowed,
      )
      .map(({ name, description, argumentHint }) => ({
        name,
        description: oneLine(description, 256),
        ...(argumentHint === undefined ? {} : { hint: argumentHint }),
      })),
  ];
  return { private: entries('private'), group: entries('group') };
}
