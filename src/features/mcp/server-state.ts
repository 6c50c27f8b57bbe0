import { oneLine } from '../../lib/text/text.ts';
import { isOn, type ListedServer } from './server-agreement.ts';
import type { LinkState } from './create-lasting-link.ts';

/** The state of a server of `[mcp]` for people (X7, L12). */
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

/** The states of those servers to which a running bot keeps a connection. */
export function serverStates(servers: readonly ListedServer[]): readonly ServerState[] {
  return servers.flatMap(({ name, state, tools }) => {
    if (state === undefined) return [];
    const on = tools.filter(isOn).length;
    const waiting = tools.filter((one) => one.seen !== undefined && !isOn(one)).length;
    return { name, ...ofLink(state), tools: on, waiting };
  });
}

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
