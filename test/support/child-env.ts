/**
 * The environment of a bot or command of its own: a home, where programs are, and where compiled code is kept. Without
 * that, what is loaded before the bot is compiled each time, for a tenth of a second.
 */
export function childEnv(home: string): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME: home, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) };
}
