import { chatTypes, type ChatType } from '../../core/conversation.ts';
import { argument, command, flag, option, optional, senderId } from '../command.ts';

/** Commands that say who may do what, and why. */
export const accessCommands = [
  command({
    name: 'access explain',
    about: 'whether somebody may talk and use skills in a chat, by which rule, and what would change it',
    args: { user: argument('their id, such as telegram:42', senderId) },
    options: {
      chat: option('id', 'the chat, such as telegram:-100123; else their direct message'),
      as: option<ChatType | undefined>('chat type', 'what kind of chat it is, if its id does not tell', {
        choices: chatTypes,
      }),
      external: flag('people of other workspaces are in the chat'),
      unaddressed: flag('they do not mention the bot'),
      skill: option('name', 'this skill; else all'),
    },
    examples: ['skillet access explain telegram:42 --chat telegram:-100123 --skill research'],
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../access.ts')).explainAccess(given),
  }),
  command({
    name: 'access test',
    about: 'hold the config against a file of expectations; nobody is paired unless a test says so',
    args: { file: optional('else access.tests.toml beside the config') },
    examples: ['skillet access test ci/access.tests.toml --config config.toml'],
    json: true,
    run: async (given) => (await import('../access.ts')).testAccess(given),
  }),
];
