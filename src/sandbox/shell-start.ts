/**
 * What `sh -eu -o pipefail FILE ARGS` comes to in a shell that takes no options before a file: the options are set
 * first, the file is read after, and $0 and the arguments stay as they were. Options without a meaning here (`-l`,
 * `--posix`) are dropped. A command given by `-c`, or none, is left as it is.
 */
export function shellStart(args: readonly string[]): readonly string[] {
  const settings: string[] = [];
  let next = 0;
  for (let option = args[next]; option !== undefined && /^[-+]./.test(option); option = args[next]) {
    if (/^-[a-z]*[cs]/.test(option)) return args;
    next++;
    const [, sign = '', letters = ''] = /^([-+])([A-Za-z]+)$/.exec(option) ?? [];
    const kept = letters.replace(/[^aefnuvxC]/g, '');
    if (kept !== '') settings.push(sign + kept);
    if (letters.endsWith('o')) {
      const named = args[next++] ?? '';
      if (/^[a-z]+$/.test(named)) settings.push(`${sign}o ${named}`);
    }
  }
  const [script, ...rest] = args.slice(next);
  if (script === undefined || next === 0) return args;
  const set = settings.length === 0 ? '' : `set ${settings.join(' ')}; `;
  return ['-c', `${set}. "$0"`, script, ...rest];
}
