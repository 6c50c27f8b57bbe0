/** A tool of PyPI as a command calls it: the words from its options to its name, such as `--from`, `x`, `y`. */
export type FetchedTool = readonly string[];

/** A name with extras and a version, as uv reads it; no address and no path. */
const requirement = /^[A-Za-z0-9][\w.,[\]=<>~!@+-]*$/;
const namesPackage: ReadonlySet<string> = new Set(['--from', '--with']);
const saysNothing: ReadonlySet<string> = new Set(['-q', '--quiet', '--offline', '--isolated']);

/** The tools that commands in a text call by `uvx` or `uv tool run`, each once: of a command, or of a skill's instructions (R7). */
export function fetchedTools(text: string): readonly FetchedTool[] {
  const words = text.split(/[\s;&|()`'"]+/);
  const found = new Map<string, FetchedTool>();
  words.forEach((word, at) => {
    const byUv = word === 'uv' && words[at + 1] === 'tool' && words[at + 2] === 'run';
    const tool = word === 'uvx' || byUv ? toolAt(words, at + (byUv ? 3 : 1)) : undefined;
    if (tool !== undefined) found.set(tool.join(' '), tool);
  });
  return [...found.values()];
}

/** More options than that are no command. */
const mostWords = 20;

function toolAt(words: readonly string[], from: number): FetchedTool | undefined {
  const tool: string[] = [];
  for (let at = from; at < Math.min(words.length, from + mostWords); at++) {
    const word = words[at] ?? '';
    const [option = '', value] = word.split('=', 2);
    if (saysNothing.has(word)) continue;
    if (!word.startsWith('-')) return requirement.test(word) ? [...tool, word] : undefined;
    const given = value === undefined ? words[++at] : word.slice(option.length + 1);
    if (!namesPackage.has(option) || given === undefined || !requirement.test(given)) return undefined;
    tool.push(option, given);
  }
  return undefined;
}

/** The command that fetches tools: one that is asked for help is fetched, and does nothing. */
export function fetchTools(tools: readonly FetchedTool[]): readonly [program: string, ...rest: string[]] {
  const [only] = tools;
  if (only !== undefined && tools.length === 1) return ['uvx', '--quiet', ...only, '--help'];
  const each = tools.map((tool) => `uvx --quiet ${tool.map((word) => `'${word}'`).join(' ')} --help`);
  return ['sh', '-c', each.join(' && ')];
}
