import { parseSimpleCommand } from './own-script.ts';

/** One entry of a skill's `allowed_tools` (T5). */
export type AllowedEntry =
  | Readonly<{ kind: 'name'; pattern: string }>
  /** Limits `bash` to one simple command that matches, such as `Bash(git log:*)` or `Bash(git * main)`. */
  | Readonly<{ kind: 'command'; pattern: CommandPattern }>
  /** Allows a script of the skill itself, such as `Bash({baseDir}/scan.sh:*)`. */
  | Readonly<{ kind: 'script' }>
  /** A limit that this bot can't enforce, so the entry grants nothing. */
  | Readonly<{ kind: 'unenforceable'; reason: string }>;

/**
 * What a simple command may be, by the rules of Claude Code: its words, in which `*` matches any text, also across
 * words. A last word `*`, or `:*` at the end, may be missing: `Bash(ls *)` allows `ls` and `ls -l`, but not `lsof`.
 */
export type CommandPattern = Readonly<{ written: string; words: readonly string[]; mayEnd: boolean }>;

/** Names that other programs have for our tools (T5). */
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

/**
 * Reads one entry. `.` counts as `_`, names of other programs are mapped, and `Bash(…)` becomes a rule about commands.
 */
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

/** Stands for `*` while words are parsed. No command has this letter outside of quotes. */
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

/** Whether the pattern allows these words of a simple command. */
export function coversCommand({ words, mayEnd }: CommandPattern, command: readonly string[]): boolean {
  // A `*` in a path means what lies below it, so `..` must not lead out.
  const hasPath = words.some((word) => /\/.*\*/s.test(word));
  if (hasPath && command.some((word) => word.split('/').includes('..'))) return false;
  const text = command.join(between);
  const pieces = words.join(between).split('*');
  return (
    matches(pieces, text) ||
    (mayEnd && matches([...pieces.slice(0, -1), `${pieces.at(-1)}${between}`, ''], text))
  );
}

/** A character that no word of a simple command has. */
const between = '\0';

/** Matches in linear time, because each piece is taken where it first occurs. */
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

/** How other programs write the folder of a skill or plugin. */
const ownPath = /\{baseDir\}|\$\{CLAUDE_(?:SKILL_DIR|PLUGIN_ROOT)\}|<skill_dir>/;
