import { parseSimpleCommand } from './own-script.ts';

/** One entry of a skill's `allowed_tools` (T5). */
export type AllowedEntry =
  | Readonly<{ kind: 'name'; pattern: string }>
  /**
   * `Bash(git:*)`: one simple command that begins with these words. `Bash(make all)` is exactly these; `Bash(mkdir*)` a
   * prefix.
   */
  | Readonly<{ kind: 'command'; words: readonly string[]; end: 'more' | 'whole' | 'prefix' }>
  /** `Bash({baseDir}/scan.sh:*)`: a script of the skill itself. */
  | Readonly<{ kind: 'script' }>
  /** A restriction that nothing here enforces: it grants nothing. */
  | Readonly<{ kind: 'unenforceable'; reason: string }>;

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
  Grep: 'list_files',
  LS: 'list_files',
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
  const [, start, open] = /^(.*?)(:\*| \*|\*)$/su.exec(rule) ?? [];
  const words = parseSimpleCommand(start ?? rule);
  if (words === undefined || words.length === 0)
    return { kind: 'unenforceable', reason: 'the words in it are no simple command' };
  return { kind: 'command', words, end: open === undefined ? 'whole' : open === '*' ? 'prefix' : 'more' };
}

/** How other programs write a skill's or plugin's folder. */
const ownPath = /\{baseDir\}|\$\{CLAUDE_(?:SKILL_DIR|PLUGIN_ROOT)\}|<skill_dir>/;
