import { chatTypes, type ChatType } from '../../core/conversation.ts';
import { argument, command, count, flag, option, optional, senderId } from '../command.ts';

/** Commands that say who may do what, and why. */
export const accessCommands = [
  command({
    name: 'rehearse',
    about:
      'judge what was done by a new config, or by another version, and say what would be decided otherwise',
    options: {
      since: option<string>('when', 'from this time on: 2h, 7d ago, or a day such as 2026-11-24', {
        preset: '7d',
      }),
      version: option('folder', 'judge by another checkout of Skillet, such as the next version'),
      record: option(
        'file',
        'judge this record and print the verdicts; a rehearsal by another version does this',
      ),
      model: option(
        'alias',
        'answer a sample of turns again with this model of the config, and show both answers',
      ),
      sample: option<number | undefined>('number', 'how many turns --model answers again at most', {
        read: count,
      }),
      private: flag('the sample may have turns of direct messages, and with private data'),
      yes: flag('do not ask before words are sent to the model'),
    },
    examples: [
      'skillet rehearse --config new.toml',
      'skillet rehearse --version ../skillet-next --since 2d',
      'skillet rehearse --config new.toml --model default --sample 20',
    ],
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../rehearse.ts')).rehearse(given),
  }),
  command({
    name: 'access explain',
    about: 'say who may talk and use skills in a chat, by which rule, and what would change that',
    args: { user: argument('the id of a person, such as telegram:42', senderId) },
    options: {
      chat: option('id', 'the chat, such as telegram:-100123; default: their direct message'),
      as: option<ChatType | undefined>('chat type', 'the kind of chat, if its id does not show it', {
        choices: chatTypes,
      }),
      external: flag('the chat includes people from other workspaces'),
      unaddressed: flag('the message does not mention the bot'),
      skill: option('name', 'only this skill'),
    },
    examples: ['skillet access explain telegram:42 --chat telegram:-100123 --skill research'],
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../access.ts')).explainAccess(given),
  }),
  command({
    name: 'access test',
    about: 'run access tests from a file',
    args: { file: optional('default: access.tests.toml beside the config') },
    examples: ['skillet access test ci/access.tests.toml --config config.toml'],
    json: true,
    run: async (given) => (await import('../access.ts')).testAccess(given),
  }),
];
