import { parseSimpleCommand } from './own-script.ts';

/** One entry of a skill's `allowed_tools` (T5). */
export type AllowedEntry =
  | Readonly<{ kind: 'name'; pattern: string }>
  /** `Bash(git log:*)`, `Bash(git * main)`: one simple command. */
  | Readonly<{ kind: 'command'; pattern: CommandPattern }>
  /** `Bash({baseDir}/scan.sh:*)`: a script of the skill itself. */
  | Readonly<{ kind: 'script' }>
  /** A restriction that nothing here enforces: it grants nothing. */
  | Readonly<{ kind: 'unenforceable'; reason: string }>;

/**
 * What a simple command may be, as Claude Code's rules have it: its words, where `*` is any text, also of several words.
 * A last word `*`, or `:*` at the end, may be left out: `Bash(ls *)` allows `ls` and `ls -l`, not `lsof`.
 */
export type CommandPattern = Readonly<{ written: string; words: readonly string[]; mayEnd: boolean }>;

/** Other programs' names of tools (T5). */
const otherNames: Readonly<Record<string, string>> = {
  Bash: 'bash',
  Shell: 'bash',
  shell: 'bash',
  Execute: 'bash',
  exec: 'bash',
  Terminal: 'bash',
  execute_command: 'bash',
  run_shell_command: 'bash',
  run_terminal_cmd: 'bash',
  Read: 'read_file',
  Write: 'write_file',
  Edit: 'write_file',
  WebFetch: 'web_fetch',
  WebSearch: 'web_search',
  Glob: 'list_files',
  Grep: 'grep_files',
  LS: 'list_files',
  Agent: 'subagent',
  Task: 'subagent',
  AskUserQuestion: 'ask_person',
};

/** Reads one entry: `.` counts as `_`, other programs' names are mapped, `Bash(…)` becomes a rule about commands. */
export function readAllowedEntry(entry: string): AllowedEntry {
  const [, written = '', inside] = /^([^()]*)(?:\((.*)\))?$/su.exec(entry.trim()) ?? [];
  const name = Object.hasOwn(otherNames, written) ? otherNames[written] : undefined;
  const pattern = name ?? written.replaceAll('.', '_');
  if (pattern === '') return { kind: 'unenforceable', reason: 'it is not a tool name' };
  const rule = inside?.trim();
  if (rule === undefined || rule === '*' || rule === ':*') return { kind: 'name', pattern };
  if (pattern !== 'bash') return { kind: 'unenforceable', reason: 'only Bash(…) can be limited this way' };
  if (ownPath.test(rule)) return { kind: 'script' };
  return readCommandPattern(rule);
}

/** A letter in the place of `*`, which no command has in its words without quotes. */
const star = '\ua66e';

function readCommandPattern(rule: string): AllowedEntry {
  const refuse = (reason: string): AllowedEntry => ({ kind: 'unenforceable', reason });
  const [, start, open] = /^(.*?)(:\*|\s\*)$/su.exec(rule) ?? [];
  const given = start ?? rule;
  if (given.includes(star)) return refuse('it has a letter that is not understood');
  const words = parseSimpleCommand(given.replaceAll('*', star))?.map((word) => word.replaceAll(star, '*'));
  if (words === undefined)
    return refuse(
      'it is not one simple command: words, quotes and * are understood, but no ; & | $ ` < > ( ) and line ends',
    );
  if (words[0]?.startsWith('*') === true)
    return refuse('its first word begins with *, which would be any program');
  const written = words.join(' ');
  return { kind: 'command', pattern: { written, words, mayEnd: open !== undefined } };
}

/** Whether these words of a simple command are what the pattern allows. */
export function coversCommand({ words, mayEnd }: CommandPattern, command: readonly string[]): boolean {
  // A * in a path is for what lies below.
  const hasPath = words.some((word) => /\/.*\*/s.test(word));
  if (hasPath && command.some((word) => word.split('/').includes('..'))) return false;
  const text = command.join(between);
  const pieces = words.join(between).split('*');
  return (
    matches(pieces, text) ||
    (mayEnd && matches([...pieces.slice(0, -1), `${pieces.at(-1)}${between}`, ''], text))
  );
}

/** In no word of a simple command. */
const between = '\0';

/** In linear time: each piece where it comes first. */
function matches(pieces: readonly string[], text: string): boolean {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** How other programs write a skill's or plugin's folder. */
const ownPath = /\{baseDir\}|\$\{CLAUDE_(?:SKILL_DIR|PLUGIN_ROOT)\}|<skill_dir>/;
