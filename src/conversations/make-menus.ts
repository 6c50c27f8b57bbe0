import type { SkillRules } from '../core/access-settings.ts';
import type { MenuEntry, Menus } from '../core/channel.ts';
import type { ChatType } from '../core/conversation.ts';
import { decideSkill } from '../access/decide-skill.ts';
import type { Skill } from '../core/skill.ts';
import { oneLine } from '../lib/text/text.ts';
import { builtIns } from '../core/built-in-commands.ts';
import { fixed, sayIn } from '../core/texts/say.ts';

const builtIn: readonly MenuEntry[] = [
  { name: 'help', description: fixed`What I can do and how to ask for it` },
  { name: 'skills', description: fixed`The skills you can use here` },
  { name: 'skill', description: fixed`Start a skill by its name` },
  { name: 'new', description: fixed`Start a new conversation` },
  { name: 'retry', description: fixed`Answer your last question again` },
  { name: 'stop', description: fixed`Stop what I am doing` },
  { name: 'status', description: fixed`How I am doing` },
  { name: 'tools', description: fixed`What I and my skills can use here` },
  { name: 'settings', description: fixed`Set up the tools in this chat` },
  { name: 'model', description: fixed`My model in this chat (owners)` },
  { name: 'persona', description: fixed`My persona in this chat (owners)` },
  { name: 'whoami', description: fixed`Your id and role` },
];

/** The `/` menus (I1), built-in commands in a language: built-in commands and the skills anybody may use in such a chat; a skill with lists of chats or users shows in none. */
export function makeMenus(skills: readonly Skill[], rules: SkillRules, language?: string): Menus {
  const say = sayIn(language);
  const entries = (chatType: ChatType): readonly MenuEntry[] => [
    ...builtIn.map(({ name, description }) => ({ name, description: say(description) })),
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
