import { Argument, Command as Parser, CommanderError, Option } from 'commander';
import { OperatorError } from '../core/errors.ts';
import { asTypedHere, skilletHere } from '../core/skillet-here.ts';
import { skilletVersion } from '../core/version.ts';
import type { CliCommand, Parameter } from './command.ts';
import { commands, commandGroups } from './commands.ts';

const help = `
Examples:
  skillet init                             set up a bot, step by step
  skillet doctor --online                  find problems and how to fix them
  skillet chat --once "roll 2d6"           ask once; needs no account
  skillet start --config /etc/skillet.toml run the bot
  skillet skill list --json                list skills with their problems
  skillet skill add owner/name             review skills and install them
  skillet pair approve K7QX2M9P            let somebody use the bot
  skillet sandbox build                    install what skills need from the system
  skillet backup /backups/monday.tar       back up everything into one file
  skillet audit verify                     check that nobody changed the record
  skillet forget telegram:42               delete what it stores about a person

Exit codes: 0 fine, 1 a problem was found, 2 wrong usage.`;

/** Runs one command line and sets the exit code. Never rejects. */
export async function main(args: readonly string[]): Promise<void> {
  // If nobody reads errors, the command continues (S15). A reader of the output that has seen enough (`| head`) is no
  // error.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  // Timers and sockets of the bot don't keep the process alive, but a command that waits for one must not end without a
  // word.
  const alive = setInterval(() => undefined, 2 ** 31 - 1);
  try {
    await parser().parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      console.error(error instanceof OperatorError ? error.message : error);
      process.exitCode = 1;
    }
  } finally {
    clearInterval(alive);
  }
}

function parser(): Parser {
  const skillet = new Parser(skilletHere())
    .description('A self-hosted chat bot for Telegram and Slack that runs skills as isolated subagents.')
    // Options behind a command belong to it, such as `rehearse --version FOLDER`.
    .enablePositionalOptions()
    .version(skilletVersion(), '--version')
    .addHelpText('after', asTypedHere(help))
    .exitOverride();
  const parents = new Map<string, Parser>();
  for (const command of commands) {
    const words = command.name.split(' ');
    const [first = '', second] = words;
    const parent = second === undefined ? skillet : (parents.get(first) ?? group(first));
    parents.set(first, parent);
    addCommand(parent, words.at(-1) ?? '', command);
  }
  return skillet;

  function group(word: string): Parser {
    return skillet
      .command(word)
      .description(commandGroups[word] ?? '')
      .exitOverride();
  }
}

function addCommand(parent: Parser, word: string, command: CliCommand): void {
  const { about, args, options, examples, json, run } = command;
  const parser = parent.command(word).description(asTypedHere(about)).exitOverride();
  parser.option('--config <file>', 'the configuration file');
  for (const [name, one] of Object.entries(args)) parser.addArgument(toArgument(name, one));
  const made = Object.entries(options).map(([name, one]) => ({ name, option: toOption(name, one) }));
  for (const { option } of made) parser.addOption(option);
  if (json) parser.option('--json', 'print JSON');
  if (examples.length > 0)
    parser.addHelpText('after', `\n${['Examples:', ...examples.map(asTypedHere)].join('\n  ')}`);
  const names = Object.keys(args);
  parser.action(async (...said: readonly unknown[]) => {
    const values = Object.fromEntries(names.map((name, at) => [name, said[at]]));
    // The parser has names of its own for words with a hyphen.
    const chosen = Object.fromEntries(
      made.map(({ name, option }) => [name, parser.getOptionValue(option.attributeName()) as unknown]),
    );
    await run({ ...parser.opts<object>(), ...chosen, ...values } as never);
  });
}

function toArgument(name: string, { about, read, required }: Parameter<unknown>): Argument {
  const argument = new Argument(required === true ? `<${name}>` : `[${name}]`, asTypedHere(about));
  return read === undefined ? argument : argument.argParser(read);
}

function toOption(
  name: string,
  { about, value, short, choices, preset, read, required }: Parameter<unknown>,
): Option {
  const flags = [...(short === undefined ? [] : [`-${short},`]), `--${name}`];
  const named = [...flags, ...(value === undefined ? [] : [`<${value}>`])].join(' ');
  const option = new Option(named, asTypedHere(about));
  if (choices !== undefined) option.choices(choices);
  if (read !== undefined) option.argParser(read);
  if (required === true) option.makeOptionMandatory();
  return preset === undefined ? option : option.default(preset);
}
