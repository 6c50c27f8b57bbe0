import { oneLine } from '../lib/text/text.ts';

/** The state of a connection. `since` (Unix ms) is when it began; retries do not change it. */
export type LinkState = Readonly<{ since: number }> &
  (Readonly<{ is: 'connecting' | 'connected' }> | Readonly<{ is: 'lost'; why: string }>);

/** The state of a server that brings tools, for people (X7, L12). */
export type ServerState = Readonly<{
  name: string;
  is: 'connected' | 'connecting' | 'away';
  /** Since when the server is in this state, in Unix milliseconds. */
  since: number;
  /** Why the server is away, on one line. Undefined if it is not. */
  why?: string;
  /** How many of its tools are on. */
  tools: number;
  /** How many of its tools are off until the operator approves them. */
  waiting: number;
}>;

const whyLimit = 300;

export function ofLink(state: LinkState): Pick<ServerState, 'is' | 'since' | 'why'> {
  return state.is === 'lost'
    ? { is: 'away', since: state.since, why: oneLine(state.why, whyLimit) }
    : { is: state.is, since: state.since };
}

/**
 * Writes a line such as `away since 5 min, 3 tools: the server refused …`. `ago` writes how long ago a time is;
 * `command` is what shows the tools.
 */
export function describeServer(
  server: ServerState,
  { ago, command }: Readonly<{ ago(since: number): string; command: string }>,
): string {
  const { is, since, why, tools, waiting } = server;
  const count = (of: number): string => (of === 1 ? '1 tool' : `${of} tools`);
  const reason = why === undefined ? '' : `: ${why}`;
  const held = waiting === 0 ? '' : `; ${count(waiting)} off until you agree (${command})`;
  return `${is} since ${ago(since)}, ${count(tools)}${reason}${held}`;
}
