import { argument, command, type CliCommand } from './command.ts';
import { print } from './console.ts';
import { OperatorError } from '../core/errors.ts';
import { accessCommands } from './commands/access.ts';
import { botCommands } from './commands/bot.ts';
import { feedbackCommands } from './commands/feedback.ts';
import { outsideCommands } from './commands/outside.ts';
import { peopleCommands } from './commands/people.ts';
import { setUpCommands } from './commands/set-up.ts';
import { skillCommands } from './commands/skills.ts';

/** First words of commands that have more than one word, with their help. */
export const commandGroups: Readonly<Record<string, string>> = {
  manifest: 'print the app manifest for Slack',
  config: 'check and print the configuration',
  skill: 'list, create, check and install skills',
  sandbox: 'where the scripts of skills run',
  capability: 'accounts that people link (mail, calendar, …)',
  pair: 'who may talk to the bot',
  inbox: 'messages without an answer',
  outbox: 'failed deliveries',
  policy: 'standing approvals, given by "Always"',
  mcp: 'MCP servers and their tools',
  accounts: 'accounts of people at MCP servers',
  memory: 'notes that people asked the bot to keep',
  feedback: 'thumbs under answers, and tests made of them',
  routine: 'pause, resume or remove a reminder or routine',
  hold: 'legal holds: what retention and forget leave out',
  access: 'who may do what, and why',
  audit: 'the record of what the bot did',
};

/** Every command, in the order of the help. */
export const commands: readonly CliCommand[] = [
  ...setUpCommands,
  ...botCommands,
  ...skillCommands,
  ...outsideCommands,
  ...peopleCommands,
  ...feedbackCommands,
  ...accessCommands,
  command({
    name: 'completion',
    about: 'print a completion script for bash, zsh or fish',
    args: { shell: argument('bash, zsh or fish') },
    examples: ['skillet completion bash > ~/.local/share/bash-completion/completions/skillet'],
    needs: 'nothing',
    async run({ shell }) {
      const { completionScript, shells } = await import('./completion.ts');
      const known = shells.find((one) => one === shell);
      if (known === undefined) throw new OperatorError(`Write one of these: ${shells.join(', ')}.`);
      print(completionScript(known, { commands, groups: commandGroups }));
    },
  }),
];
