import { oneLine } from '../lib/text/text.ts';
import { isOn, type ListedServer } from './server-agreement.ts';
import type { LinkState } from './create-lasting-link.ts';

/** How a server of `[mcp]` is (X7, L12). */
export type ServerState = Readonly<{
  name: string;
  is: 'connected' | 'connecting' | 'away';
  /** Milliseconds since 1970. */
  since: number;
  /** Only if it is away: one line. */
  why?: string;
  /** Tools that are on. */
  tools: number;
  /** Tools that are off until the operator agrees. */
  waiting: number;
}>;

const whyLimit = 300;

/** Those that a running bot keeps a connection to. */
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

/** `notes: away since 5 min: the server refused …; 2 tools wait`. `ago` writes how long since; `command` shows the tools. */
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
