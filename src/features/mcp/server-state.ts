import { ofLink, type ServerState } from '../../core/server-state.ts';
import { isOn, type ListedServer } from './server-agreement.ts';

/** The states of those servers to which a running bot keeps a connection. */
export function serverStates(servers: readonly ListedServer[]): readonly ServerState[] {
  return servers.flatMap(({ name, state, tools }) => {
    if (state === undefined) return [];
    const on = tools.filter(isOn).length;
    const waiting = tools.filter((one) => one.seen !== undefined && !isOn(one)).length;
    return { name, ...ofLink(state), tools: on, waiting };
  });
}
