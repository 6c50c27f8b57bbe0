import { slackUserGroups, type MembersOf } from '../../config/people-groups.ts';
import type { Config } from '../../config/complete-config.ts';
import { isSlackUserGroup } from '../../config/id.ts';

export type NamedGroup = Readonly<{
  /** Name of the group: `group:finance`, or a user group of Slack that a list names directly. */
  name: string;
  /** The entries as the config lists them. */
  entries: readonly Readonly<{
    id: string;
    /** Ids of the members of a user group; null if nobody could tell. */
    members?: readonly string[] | null;
  }>[];
}>;

/** Slack's user groups as a running bot knows them. */
export type UserGroupsInForce = Readonly<{ names: readonly string[]; membersOf: MembersOf }>;

/** Says who is in each group that lists of people may name (A13). */
export function namedGroups(
  config: Config,
  { names, membersOf }: UserGroupsInForce = { names: slackUserGroups(config), membersOf: () => undefined },
): readonly NamedGroup[] {
  const entry = (id: string) => (isSlackUserGroup(id) ? { id, members: membersOf(id) ?? null } : { id });
  const named = Object.entries(config.groups).map(([name, { members }]) => ({
    name: `group:${name}`,
    entries: members.map(entry),
  }));
  const inside = new Set(named.flatMap(({ entries }) => entries.map(({ id }) => id)));
  const alone = names.filter((group) => !inside.has(group));
  return [...named, ...alone.map((group) => ({ name: group, entries: [entry(group)] }))];
}
