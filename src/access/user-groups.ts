import { slackUserGroups, withPeople } from '../config/people-groups.ts';
import type { Config } from '../config/complete-config.ts';
import type { Channel } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

/** People in the Slack user groups that the config names (A13). Decisions read plain lists of ids. */
export type UserGroups = Readonly<{
  /**
   * The config with the ids of members in place of their groups. A group that could not be read in the last 5 minutes
   * has no members.
   */
  expand(config: Config): Config;
  /**
   * Reads the groups that the config names now and then every 2 minutes, until the signal. It calls `changed` if
   * members changed.
   */
  follow(config: () => Config, changed: () => void, signal: AbortSignal): Promise<void>;
  /** Ids of the members; undefined if they could not be read in the last 5 minutes. */
  membersOf(group: string): readonly string[] | undefined;
  /** Waits until each group of the config was read once, at most 5 s. False if there was nothing to wait for. */
  ready(config: Config): Promise<boolean>;
}>;

const lookMs = 30_000;
const freshMs = 120_000;
/** Together with the look after it, members are kept for 5 minutes at most. */
const keptMs = 270_000;
const patienceMs = 5_000;

type Deps = Readonly<{
  channels: ReadonlyMap<string, Channel>;
  clock: Clock;
  log: Log;
}>;

export function createUserGroups(deps: Deps): UserGroups {
  const { clock } = deps;
  const { membersOf, read, readOnce, isDue, isTried } = createGroupReader(deps);
  let named: Readonly<{ config: Config; groups: readonly string[] }> | undefined;

  function groupsOf(config: Config): readonly string[] {
    if (named?.config !== config) named = { config, groups: slackUserGroups(config) };
    return named.groups;
  }

  const stateOf = (groups: readonly string[]): string =>
    JSON.stringify(groups.map((group) => membersOf(group)));

  return {
    membersOf,
    expand: (config) =>
      groupsOf(config).length === 0
        ? config
        : withPeople(config, (entry) => (entry.startsWith('slack:usergroup:') ? membersOf(entry) : [entry])),
    async follow(config, changed, signal) {
      let told = '[]';
      while (!signal.aborted) {
        const groups = groupsOf(config());
        await Promise.all(groups.filter(isDue).map(read));
        const now = stateOf(groups);
        if (now !== told) changed();
        told = now;
        await clock.sleep(lookMs, signal).catch(() => undefined);
      }
    },
    async ready(config) {
      const unknown = groupsOf(config).filter((group) => !isTried(group));
      if (unknown.length === 0) return false;
      const enough = new AbortController();
      await Promise.race([
        Promise.all(unknown.map(readOnce)),
        clock.sleep(patienceMs, enough.signal).catch(() => undefined),
      ]);
      enough.abort();
      return true;
    },
  };
}

/** Reads groups, and remembers their members for a time. */
function createGroupReader({ channels, clock, log }: Deps) {
  const known = new Map<string, Readonly<{ members: readonly string[]; at: number }>>();
  const first = new Map<string, Promise<void>>();
  const tried = new Set<string>();

  async function readAgain(group: string): Promise<void> {
    const [channel = '', , id = ''] = group.split(':');
    const at = clock.now();
    try {
      const members = await channels.get(channel)?.membersOf?.(id);
      if (members !== undefined) known.set(group, { members, at });
    } catch (error) {
      log.warn({ err: error, group }, 'a user group could not be read: it admits nobody while that lasts');
    } finally {
      tried.add(group);
    }
  }

  function readOnce(group: string): Promise<void> {
    const before = first.get(group);
    if (before !== undefined) return before;
    const reading = readAgain(group);
    first.set(group, reading);
    return reading;
  }

  return {
    membersOf(group: string): readonly string[] | undefined {
      const found = known.get(group);
      return found === undefined || found.at + keptMs <= clock.now() ? undefined : found.members;
    },
    readOnce,
    read: (group: string) => (first.has(group) ? readAgain(group) : readOnce(group)),
    isDue: (group: string) => (known.get(group)?.at ?? -Infinity) + freshMs <= clock.now(),
    isTried: (group: string) => tried.has(group),
  };
}
