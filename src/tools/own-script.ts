import { uvRunOptions } from '../sandbox/packages/script-packages.ts';
import { scriptCommand } from '../sandbox/script-command.ts';

export type ScriptGround = Readonly<{
  /** Path of the skill's folder as commands see it. */
  seen: string;
  /** Returns the text of a skill's file by its path. Undefined if there is none. */
  read(path: string): string | undefined;
  /** Whether the run has a file of its own at this path in the working directory. */
  hides(path: string): boolean;
}>;

/**
 * The skill's script that a command does nothing but start, with its arguments (R5), as in `python scripts/a.py x`.
 * Undefined if another program would run the script, or the working directory has a file of this name.
 */
export function ownScript(
  command: string,
  { seen, read, hides }: ScriptGround,
): Readonly<{ path: string; args: readonly string[] }> | undefined {
  // After `cd /skill &&`, relative paths are paths of the skill.
  const there = command.startsWith(`cd ${seen} && `) ? `cd ${seen} && `.length : 0;
  const words = parseSimpleCommand(command.slice(there)) ?? [];
  const by = startedBy(words);
  const [written = '', ...args] = words.slice(by.length);
  const path = inSkill(written, seen);
  if (path === undefined || (by.length === 0 && !written.includes('/'))) return undefined;
  const [name = ''] = path.split('/');
  if (!written.startsWith('/') && (name === '..' || (there === 0 && hides(path)))) return undefined;
  const text = read(path);
  const program = text === undefined ? undefined : scriptCommand(path, text)?.program;
  return program !== undefined && runsAlike(by, program) ? { path, args } : undefined;
}

function startedBy(words: readonly string[]): readonly string[] {
  const [program = '', second] = words;
  if (program === 'uv' && second === 'run') return words.slice(0, afterOptions(words));
  return interpreters.has(program) ? [program] : [];
}

function afterOptions(words: readonly string[]): number {
  let at = 2;
  for (;;) {
    const [option = '', value] = (words[at] ?? '').split('=', 2);
    if (uvRunOptions.alone.has(option)) at += 1;
    else if (uvRunOptions.withValue.has(option)) at += value === undefined ? 2 : 1;
    else return at;
  }
}

const interpreters: ReadonlySet<string> = new Set(['sh', 'bash', 'python', 'python3', 'node']);

/**
 * Whether starting the script by this program is the same as starting it directly. `uv` runs Python scripts that list
 * packages (R7).
 */
function runsAlike([by]: readonly string[], program: string): boolean {
  if (by === undefined || by === program) return true;
  const python = ['python', 'python3', 'uv'];
  return python.includes(by) && python.includes(program);
}

function inSkill(written: string, seen: string): string | undefined {
  const path = written.startsWith(`${seen}/`) ? written.slice(seen.length + 1) : written.replace(/^\.\//, '');
  return path === '' || path.startsWith('/') ? undefined : path;
}

/** The words of one simple command. Undefined if a shell could read more into it (T5). */
export function parseSimpleCommand(command: string): readonly string[] | undefined {
  const words: string[] = [];
  const token = /[ \t]+|'([^'\p{Cc}]*)'|"([^"$`\\!\p{Cc}]*)"|([\p{L}\p{N}\p{M}_./:@%+,=^-]+)/uy;
  let word: string | undefined;
  while (token.lastIndex < command.length) {
    const found = token.exec(command);
    if (found === null) return undefined;
    const piece = found[1] ?? found[2] ?? found[3];
    if (piece === undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + piece;
    }
  }
  if (word !== undefined) words.push(word);
  const [first] = words;
  // A first word with `=` is an assignment, not a program.
  return first === undefined || first === '' || first.includes('=') ? undefined : words;
}
