import { scriptCommand } from '../sandbox/script-command.ts';

/** What of a skill and a run tells whether a command starts the skill's own script. */
export type ScriptGround = Readonly<{
  /** The skill's folder, as commands see it. */
  seen: string;
  /** The text of a file of the skill by its path in there; undefined if it is none. */
  read(path: string): string | undefined;
  /** Whether the working directory has an entry of this name, which a relative path would lead to. */
  hides(name: string): boolean;
}>;

/**
 * The script of its own skill that a command starts and does nothing else, with its arguments (R5): `{baseDir}/scripts/a.sh x`,
 * `python scripts/a.py x`, `uv run scripts/a.py x`. Instructions of public skills name scripts like that, relative to the
 * skill. A program that would run it otherwise than `skills_run_script` does, or an entry of that name in the working
 * directory, makes it a command like any other.
 */
export function ownScript(
  command: string,
  { seen, read, hides }: ScriptGround,
): Readonly<{ path: string; args: readonly string[] }> | undefined {
  const words = parseSimpleCommand(command) ?? [];
  const by = startedBy(words);
  const [written = '', ...args] = words.slice(by.length);
  const path = inSkill(written, seen);
  if (path === undefined || (by.length === 0 && !written.includes('/'))) return undefined;
  const [name = ''] = path.split('/');
  if (!written.startsWith('/') && (name === '..' || hides(name))) return undefined;
  const text = read(path);
  const program = text === undefined ? undefined : scriptCommand(path, text)?.program;
  return program !== undefined && runsAlike(by, program) ? { path, args } : undefined;
}

function startedBy(words: readonly string[]): readonly string[] {
  const [program = '', second] = words;
  if (program === 'uv' && second === 'run') return words.slice(0, words[2] === '--script' ? 3 : 2);
  return interpreters.has(program) ? [program] : [];
}

const interpreters: ReadonlySet<string> = new Set(['sh', 'bash', 'python', 'python3', 'node']);

/** uv is how Python runs here that lists its packages, whatever calls it (R7). */
function runsAlike([by]: readonly string[], program: string): boolean {
  if (by === undefined || by === program) return true;
  const python = ['python', 'python3', 'uv'];
  return python.includes(by) && python.includes(program);
}

function inSkill(written: string, seen: string): string | undefined {
  const path = written.startsWith(`${seen}/`) ? written.slice(seen.length + 1) : written.replace(/^\.\//, '');
  return path === '' || path.startsWith('/') ? undefined : path;
}

/**
 * The words of one simple command, as a shell would pass them on, or nothing if the text is more than that: an
 * operator, an expansion, a substitution, a line end, an unclosed quote (T5). Whatever could mean more than itself to
 * any shell is refused, so the words can be spawned as an argument vector.
 */
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
  // A first word with `=` is an assignment to a shell, not a program.
  return first === undefined || first === '' || first.includes('=') ? undefined : words;
}
