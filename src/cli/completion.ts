import type { CliCommand, Parameter } from './command.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A word that may follow the words so far. It comes from the table of commands, so that nothing is listed twice. */
type Word = Readonly<{
  /** The word before, such as `pair`. Empty for the first word. */
  after: string;
  word: string;
  about: string;
}>;

type Flag = Readonly<{
  command: string;
  name: string;
  short?: string;
  about: string;
  /** What stands for the value in the help. Undefined: it is a switch. */
  value?: string;
  choices: readonly string[];
}>;

/** A script that a shell reads at its start. */
export function completionScript(
  shell: Shell,
  {
    commands,
    groups,
  }: Readonly<{ commands: readonly CliCommand[]; groups: Readonly<Record<string, string>> }>,
): string {
  const words = [...firstWords(commands, groups), ...secondWords(commands)];
  const flags = commands.flatMap(flagsOf);
  if (shell === 'fish') return fish(words, flags);
  return shell === 'bash'
    ? bash(words, flags)
    : `#compdef skillet\nautoload -U +X bashcompinit && bashcompinit\n${bash(words, flags)}`;
}

function firstWords(
  commands: readonly CliCommand[],
  groups: Readonly<Record<string, string>>,
): readonly Word[] {
  const seen = new Map<string, string>();
  for (const { name, about } of commands) {
    const [first = ''] = name.split(' ');
    if (!seen.has(first)) seen.set(first, groups[first] ?? about);
  }
  return [...seen].map(([word, about]) => ({ after: '', word, about }));
}

function secondWords(commands: readonly CliCommand[]): readonly Word[] {
  return commands.flatMap(({ name, about }) => {
    const [after = '', word] = name.split(' ');
    return word === undefined ? [] : [{ after, word, about }];
  });
}

function flagsOf({ name: command, options, json }: CliCommand): readonly Flag[] {
  const own = Object.entries(options).map(([name, one]) => ofOption(command, name, one));
  const config = { command, name: 'config', about: 'the configuration file', value: 'file', choices: [] };
  const asData = json ? [{ command, name: 'json', about: 'as data', choices: [] }] : [];
  return [...own, config, ...asData, { command, name: 'help', about: 'help for the command', choices: [] }];
}

function ofOption(command: string, name: string, one: Parameter<unknown>): Flag {
  const { about, value, short, choices = [] } = one;
  return { command, name, short, about, value, choices };
}

/** Files are completed where nothing else is known. zsh reads the same script by its `bashcompinit`. */
function bash(words: readonly Word[], flags: readonly Flag[]): string {
  const wordCases = by(words, ({ after }) => after).map(
    ([after, list]) => `    '${after}') echo '${list.map(({ word }) => word).join(' ')}' ;;`,
  );
  const flagCases = by(flags, ({ command }) => command).map(
    ([command, list]) => `    '${command}') echo '${list.map(({ name }) => `--${name}`).join(' ')}' ;;`,
  );
  const values = flags.filter(({ choices }) => choices.length > 0);
  const valueCases = values.map(
    ({ command, name, choices }) => `    '${command} --${name}') echo '${choices.join(' ')}' ;;`,
  );
  return `# Completion of skillet, made by \`skillet completion\`.
_skillet_words() {
  case "$1" in
${wordCases.join('\n')}
  esac
}
_skillet_flags() {
  case "$1" in
${flagCases.join('\n')}
  esac
}
_skillet_values() {
  case "$1" in
${valueCases.join('\n')}
  esac
}
_skillet() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local first="\${COMP_WORDS[1]}" command="\${COMP_WORDS[1]}" offered=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    offered="$(_skillet_words '')"
  else
    if [ -n "$(_skillet_words "$first")" ]; then
      command="$first \${COMP_WORDS[2]}"
      [ "$COMP_CWORD" -eq 2 ] && offered="$(_skillet_words "$first")"
    fi
    if [ -z "$offered" ]; then
      offered="$(_skillet_values "$command $before")"
      [ -z "$offered" ] && [ "\${current:0:1}" = '-' ] && offered="$(_skillet_flags "$command")"
    fi
  fi
  [ -n "$offered" ] && COMPREPLY=($(compgen -W "$offered" -- "$current"))
  return 0
}
complete -o default -F _skillet skillet
`;
}

function fish(words: readonly Word[], flags: readonly Flag[]): string {
  const lines = words.map(({ after, word, about }) => {
    const when = after === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${after}`;
    return `complete -c skillet -f -n '${when}' -a ${word} -d ${single(about)}`;
  });
  const options = flags.map(({ command, name, short, about, value, choices }) => {
    const [first = '', second] = command.split(' ');
    const seen = [first, ...(second === undefined ? [] : [second])].map(
      (word) => `__fish_seen_subcommand_from ${word}`,
    );
    const takes = choices.length > 0 ? ` -x -a '${choices.join(' ')}'` : value === undefined ? '' : ' -r';
    const letter = short === undefined ? '' : ` -s ${short}`;
    return `complete -c skillet -n '${seen.join('; and ')}' -l ${name}${letter}${takes} -d ${single(about)}`;
  });
  return `# Completion of skillet, made by \`skillet completion\`.\n${[...lines, ...options].join('\n')}\n`;
}

function by<Item>(
  items: readonly Item[],
  key: (item: Item) => string,
): readonly (readonly [string, Item[]])[] {
  const found = new Map<string, Item[]>();
  for (const item of items) found.set(key(item), [...(found.get(key(item)) ?? []), item]);
  return [...found];
}

function single(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
