import type { ConfigProblem } from '../config/config-problem.ts';

/** What the owners are told of a saved config that is not valid (G3). */
export function configNotice(
  problems: readonly ConfigProblem[],
  at: number,
): { key: string; markdown: string } {
  const lines = problems.map(
    ({ message, line }) => `- ${line === undefined ? '' : `line ${line}: `}${message}`,
  );
  return {
    key: `config:${at}`,
    markdown: `The saved \`config.toml\` is not valid, so nothing changed:\n\n${lines.join('\n')}`,
  };
}
