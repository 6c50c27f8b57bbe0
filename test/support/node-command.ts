/**
 * The command line of a Node program that the bot starts with little of its environment, such as a provider: compiled code
 * comes from where `npm test` keeps it. To compile a program takes longer than it runs.
 */
export function nodeCommand(...args: readonly string[]): readonly [string, ...string[]] {
  const { NODE_COMPILE_CACHE } = process.env;
  const command = [process.execPath, ...args] as const;
  return NODE_COMPILE_CACHE === undefined
    ? command
    : ['/usr/bin/env', `NODE_COMPILE_CACHE=${NODE_COMPILE_CACHE}`, ...command];
}
