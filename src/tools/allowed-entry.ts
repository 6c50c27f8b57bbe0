import { parseSimpleCommand } from './simple-command.ts';

/** One entry of a skill's `allowed_tools`, read (T5). */
export type AllowedEntry =
  /** A name or glob. */
  | Readonly<{ kind: 'name'; pattern: string }>
  /** `Bash(git:*)`: bash, for one simple command that begins with these words, or (`whole`) is these words. */
  | Readonly<{ kind: 'command'; words: readonly string[]; whole: boolean }>
  /** A restriction that nothing here enforces: it grants nothing. */
  | Readonly<{ kind: 'unenforceable'; reason: string }>;

/** Names of other programs' tools, and what they are called here (T5). */
const otherNames: Readonly<Record<string, string>> = {
  Bash: 'bash',
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
  const [, start] = /^(.*?)(?::\*| \*)$/su.exec(rule) ?? [];
  const words = parseSimpleCommand(start ?? rule);
  return words === undefined
    ? { kind: 'unenforceable', reason: 'the words in it are no simple command' }
    : { kind: 'command', words, whole: start === undefined };
}
