import { Command, CommanderError, Option } from 'commander';
import { chatTypes } from '../core/conversation.ts';
import { OperatorError } from '../core/errors.ts';
import { skilletVersion } from '../core/version.ts';
import type { CapabilityCheckOptions } from './capability-check.ts';
import {
  operationInput,
  count,
  filled,
  gather,
  senderId,
  type AddOptions,
  type ChatOptions,
  type ForgetOptions,
  type ReadOptions,
} from './options.ts';
import type { TestOptions } from './skill-test.ts';

const help = `
Examples:
  skillet chat --once "roll 2d6"           ask once, without an account
  skillet start --config /etc/skillet.toml run the bot
  skillet skill list --json                every skill with its diagnostics
  skillet skill add owner/name             look at skills and install them
  skillet pair approve K7QX2M9P            let somebody use the bot
  skillet sandbox build                    install what skills need from the system
  skillet backup /backups/monday.db        copy the store while the bot runs
  skillet audit verify                     say whether its record is whole
  skillet forget telegram:42               remove what is stored of a person

Exit codes: 0 fine, 1 a problem was found, 2 wrong usage.`;

/** Runs one command line. Each command is loaded when it is used. */
export async function main(args: readonly string[]): Promise<void> {
  // A reader that has seen enough (`| head`) is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  try {
    await program().parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else if (error instanceof OperatorError) {
      console.error(error.message);
      process.exitCode = 1;
    } else {
      console.error(error);
      process.exitCode = 1;
    }
  }
}

function program(): Command {
  const skillet = new Command('skillet')
    .description('A self-hosted chat bot for Telegram and Slack that runs skills as isolated subagents.')
    .version(skilletVersion(), '--version')
    .addHelpText('after', help)
    .exitOverride();
  const add = (parent: Command, name: string, description: string): Command =>
    parent
      .command(name)
      .description(description)
      .option('--config <file>', 'the configuration file')
      .exitOverride();

  add(skillet, 'start', 'run the bot; without a channel configured, chat in this terminal').action(
    async (options: { config?: string }) => (await import('./start.ts')).start(options),
  );
  add(skillet, 'chat', 'talk to the bot in this terminal')
    .option('--once <text>', 'send one message, print the answer, leave', filled)
    .addOption(
      new Option('--as <chat type>', 'pretend to be in such a chat').choices(chatTypes).default('private'),
    )
    .option('--user <name>', 'be somebody else than the owner', filled)
    .action(async (options: ChatOptions) => (await import('./chat.ts')).chat(options));

  const config = skillet.command('config').description('look at the configuration').exitOverride();
  add(config, 'check', 'say what start would say')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./config.ts')).checkConfig(options));
  add(config, 'show', 'the configuration in force, secrets masked')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./config.ts')).showConfiguration(options));

  const skill = skillet.command('skill').description('look at skills, check and begin them').exitOverride();
  add(skill, 'list', 'every skill, where it may be used, and what is wrong with it')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./skill.ts')).listSkills(options));
  add(skill, 'show <name>', 'one skill with its effective access, files and text')
    .option('--json', 'as data')
    .action(async (name: string, options: ReadOptions) =>
      (await import('./skill.ts')).showSkill(name, options),
    );
  add(skill, 'validate <path>', 'check a file, a skill folder or a tree against the open specification')
    .option('--strict', "exactly the reference validator's verdict")
    .option('--json', 'as data')
    .action(async (path: string, options: ReadOptions & { strict?: boolean }) =>
      (await import('./skill-validate.ts')).validateSkills(path, options),
    );
  add(skill, 'new <name>', 'begin a skill in the workspace')
    .option('--description <text>', 'what it does and when to use it')
    .action(async (name: string, options: ReadOptions & { description?: string }) =>
      (await import('./skill-new.ts')).newSkill(name, options),
    );

  add(skill, 'add <source>', 'look at the skills of owner/name, a git URL or a folder, and install them')
    .option('--ref <name>', 'a branch, tag or commit')
    .option('--name <skill>', 'only this one; may be given again', (one: string, all: string[] = []) => [
      ...all,
      one,
    ])
    .option('--yes', 'agree to what is shown')
    .action(async (source: string, options: AddOptions) =>
      (await import('./skill-add.ts')).addSkills(source, options),
    );
  add(skill, 'sources', 'where skills are installed from, and what was agreed to')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./skill-sources.ts')).listSources(options));
  add(skill, 'sync', 'fetch every source and say what changed; nothing changes here')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./skill-sources.ts')).syncSources(options));
  add(skill, 'update [name]', 'show what changed in the source of installed skills, and install it')
    .option('--yes', 'agree to what is shown')
    .action(async (name: string | undefined, options: ReadOptions & { yes?: boolean }) =>
      (await import('./skill-update.ts')).updateSkills(name, options),
    );
  add(skill, 'remove <name>', 'take away an installed skill, or all of a source').action(
    async (name: string, options: ReadOptions) =>
      (await import('./skill-sources.ts')).removeInstalled(name, options),
  );
  add(skill, 'test <name>', 'carry out the cases in its tests folder, by the configured model or a recording')
    .option('--record <file>', 'write what the model said')
    .option('--replay <file>', 'ask no model: take what it said then')
    .option('--json', 'as data')
    .action(async (name: string, options: TestOptions) =>
      (await import('./skill-test.ts')).runSkillTests(name, options),
    );
  for (const [verdict, description] of [
    ['enable', 'enable a skill that the bot wrote, as its files are now: look at it with `skill show` first'],
    ['discard', 'remove a skill that the bot wrote'],
  ] as const) {
    add(skill, `${verdict} <name>`, description)
      .option('--json', 'as data')
      .action(async (name: string, options: ReadOptions) =>
        (await import('./written-skill.ts')).decideWrittenSkill(verdict, name, options),
      );
  }

  const sandbox = skillet.command('sandbox').description('where the scripts of skills run').exitOverride();
  add(sandbox, 'build', 'install the Debian packages that skills ask for into the sandbox')
    .option('--fresh', 'build again though nothing changed: for newer versions')
    .option('--json', 'as data')
    .action(async (options: ReadOptions & { fresh?: boolean }) =>
      (await import('./sandbox.ts')).buildSandbox(options),
    );
  add(sandbox, 'status', 'which sandbox is in use, what is installed in it, and what skills miss')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./sandbox.ts')).sandboxStatus(options));
  add(sandbox, 'shell [skill]', 'look around in what the scripts of a skill see, at this terminal').action(
    async (name: string | undefined, options: { config?: string }) =>
      (await import('./sandbox-shell.ts')).openSandboxShell(name, options),
  );

  const capability = skillet
    .command('capability')
    .description('programs behind sensitive systems')
    .exitOverride();
  add(capability, 'check <namespace>', 'hold a provider to the contract in docs/capabilities.md')
    .option('--user <id>', 'make its calls for this person, such as telegram:42')
    .option('--account <name>', 'an account that this person has linked')
    .option('--mutate <operation>', 'carry this out, too: notes.book:add; may be given again', gather, [])
    .option(
      '--input <operation=json>',
      'what to call an operation with; may be given again',
      operationInput,
      {},
    )
    .option('--json', 'as data')
    .action(async (namespace: string, options: CapabilityCheckOptions) =>
      (await import('./capability-check.ts')).checkCapability(namespace, options),
    );

  add(capability, 'list', 'providers and what they offer')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./capability.ts')).capabilityList(options));
  add(capability, 'accounts', 'who has linked which account')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./capability.ts')).capabilityAccounts(options));
  add(capability, 'revoke <sender> <capability> [account]', 'use an account no more').action(
    async (sender: string, id: string, account: string | undefined, options: ReadOptions) =>
      (await import('./capability.ts')).capabilityRevoke(sender, id, account, options),
  );

  const pair = skillet.command('pair').description('who may talk to the bot').exitOverride();
  add(pair, 'list', 'owners, paired people and requests')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./operator.ts')).pairList(options));
  add(pair, 'claim', 'a token that makes you the first owner').action(async (options: ReadOptions) =>
    (await import('./operator.ts')).pairClaim(options),
  );
  for (const [name, of, description] of [
    ['approve', '<code>', 'approve the person behind a code'],
    ['deny', '<code>', 'refuse the person behind a code'],
    ['revoke', '<sender>', 'remove a paired person'],
  ] as const) {
    add(pair, `${name} ${of}`, description).action(async (argument: string, options: ReadOptions) =>
      (await import('./operator.ts')).operator(`pair ${name}`, argument, options),
    );
  }

  const inbox = skillet.command('inbox').description('messages without an answer').exitOverride();
  add(inbox, 'list', 'dead letters: messages that failed three times')
    .option('--waiting', 'messages not answered yet, instead')
    .option('--json', 'as data')
    .action(async (options: ReadOptions & { waiting?: boolean }) =>
      (await import('./operator.ts')).inboxList(options),
    );
  for (const [name, of, description] of [
    ['retry', '<key>', 'try to answer it again'],
    ['drop', '<key>', 'leave it unanswered'],
  ] as const) {
    add(inbox, `${name} ${of}`, description).action(async (argument: string, options: ReadOptions) =>
      (await import('./operator.ts')).operator(`inbox ${name}`, argument, options),
    );
  }

  const outbox = skillet.command('outbox').description('failed deliveries').exitOverride();
  add(outbox, 'list', 'parts of answers that the platform refused')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./operator.ts')).outboxList(options));
  add(outbox, 'retry <key>', 'send it again').action(async (key: string, options: ReadOptions) =>
    (await import('./operator.ts')).operator('outbox retry', key, options),
  );

  const policy = skillet
    .command('policy')
    .description('standing approvals, given by "Always"')
    .exitOverride();
  add(policy, 'list', 'every such rule')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./operator.ts')).policyList(options));
  add(policy, 'revoke <id>', 'ask again before such calls').action(async (id: string, options: ReadOptions) =>
    (await import('./operator.ts')).operator('policy revoke', id, options),
  );

  const mcp = skillet.command('mcp').description('servers of further tools').exitOverride();
  add(mcp, 'list', 'each server with its tools, and which of them are off')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./mcp.ts')).mcpList(options));
  add(mcp, 'agree <server> [tool]', 'switch on what changed there, after showing it')
    .option('--yes', 'agree to what is shown without being asked')
    .action(async (server: string, tool: string | undefined, options: ReadOptions & { yes?: boolean }) =>
      (await import('./mcp.ts')).mcpAgree(server, tool, options),
    );

  const audit = skillet.command('audit').description('the record of what was done').exitOverride();
  add(audit, 'tail', 'the newest lines: who had what done, who approved it, what was refused')
    .option('--json', 'one JSON object a line, as recorded')
    .option('-n, --lines <count>', 'how many', count, 20)
    .action(async (options: ReadOptions & { lines: number }) =>
      (await import('./audit.ts')).auditTail(options),
    );
  add(audit, 'verify', 'say whether anything in it was changed, moved or taken away')
    .option('--json', 'as data')
    .action(async (options: ReadOptions) => (await import('./audit.ts')).auditVerify(options));

  add(skillet, 'stats', 'tokens and money by day, skill, person and model')
    .option('--days <count>', 'of so many days, today included', count, 7)
    .option('--json', 'as data')
    .action(async (options: ReadOptions & { days: number }) => (await import('./stats.ts')).stats(options));
  add(
    skillet,
    'backup <file>',
    'write a consistent copy of the store to a new file, while the bot runs or not',
  )
    .option('--json', 'as data')
    .action(async (file: string, options: ReadOptions) =>
      (await import('./backup.ts')).backup(file, options),
    );
  add(skillet, 'forget', 'remove what is stored of a person')
    .argument('<user>', 'their id, such as telegram:42', senderId)
    .option('--yes', 'do not ask first')
    .option('--json', 'as data')
    .action(async (user: string, options: ForgetOptions) =>
      (await import('./forget.ts')).forget(user, options),
    );
  return skillet;
}
