/** The shell that a person gets: bash where there is one, and nobody's settings. */
export const shellCommand = [
  'sh',
  '-c',
  'command -v bash >/dev/null && exec bash --noprofile --norc -i; exec sh -i',
] as const;

/** What a shell at this process's terminal needs to know of it. */
export function terminalEnvironment(): Readonly<Record<string, string>> {
  const { TERM = 'dumb', COLORTERM } = process.env;
  return { TERM, ...(COLORTERM === undefined ? {} : { COLORTERM }), PS1: 'sandbox:\\w\\$ ' };
}
