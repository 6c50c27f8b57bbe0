import type { AccessLevel } from '../core/access-settings.ts';
import { nearest } from '../lib/text/text.ts';
import type { Config } from './complete-config.ts';
import { isSlackUserGroup } from './id.ts';
import type { Complain, KeyPath } from './section.ts';

/** The people whom an entry of a list means; undefined if that can't be known now. */
export type MembersOf = (entry: string) => readonly string[] | undefined;

/**
 * Keys of lists of people, wherever they are. They are compared without case and underscores, because decoded tables
 * use camelCase.
 */
const lists = ['users', 'groupusers', 'allowusers', 'approvers', 'sender'];
/** Tables whose keys are defined by tools and servers. */
const foreign = ['tools', 'config', 'groups'];

/** Complains of each `group:NAME` that `[groups]` does not contain (A13). */
export function checkGroupNames(table: Readonly<Record<string, unknown>>, complain: Complain): void {
  const { groups } = table;
  const names = typeof groups === 'object' && groups !== null ? Object.keys(groups) : [];
  const look = (value: unknown, path: KeyPath, isList: boolean): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        const part = Array.isArray(value) ? Number(key) : key;
        if (!foreign.includes(key))
          look(inner, [...path, part], isList || lists.includes(key.replaceAll('_', '').toLowerCase()));
      }
    } else if (isList && typeof value === 'string' && value.startsWith('group:')) {
      const name = value.slice('group:'.length);
      if (names.includes(name)) return;
      const [guess] = nearest(name, names);
      const hint =
        guess === undefined ? `write [groups.${name}] with members` : `did you mean "group:${guess}"?`;
      complain(path, `there is no group of this name: ${hint}`);
    }
  };
  look(table, [], false);
}

/** The config with the members of its own groups in each list that names a group. */
export function withGroups(config: Config): Config {
  const groups = new Map(
    Object.entries(config.groups).map(([name, { members }]) => [`group:${name}`, members]),
  );
  return withPeople(config, (entry) => groups.get(entry) ?? [entry]);
}

/** The Slack user groups that some list names. */
export function slackUserGroups(config: Config): readonly string[] {
  const found = new Set<string>();
  withPeople(config, (entry) => {
    if (isSlackUserGroup(entry)) found.add(entry);
    return [entry];
  });
  return [...found];
}

/**
 * The config with lists of people as `membersOf` returns them. An entry that can't be known matches nobody in a list
 * that admits, and everybody in a rule of `[policy]` that restricts, so access fails closed.
 */
export function withPeople(config: Config, membersOf: MembersOf): Config {
  const people = (list: readonly string[]) => list.flatMap((entry) => membersOf(entry) ?? []);
  const level = <Level extends Pick<AccessLevel, 'users' | 'groupUsers'>>(of: Level): Level =>
    present({
      ...of,
      users: of.users && people(of.users),
      groupUsers: of.groupUsers && people(of.groupUsers),
    });
  const { access, skills, policy, plugins, mcp } = config;
  return {
    ...config,
    access: present({
      ...level(access),
      telegram: access.telegram && level(access.telegram),
      slack: access.slack && level(access.slack),
      chats: mapValues(access.chats, level),
    }),
    skills: {
      ...skills,
      byName: mapValues(skills.byName, (skill) =>
        skill.allowUsers === undefined ? skill : { ...skill, allowUsers: people(skill.allowUsers) },
      ),
    },
    policy: {
      ...policy,
      approvers: people(policy.approvers),
      rules: policy.rules.flatMap((rule) => {
        if (rule.sender === undefined) return [rule];
        const members = membersOf(rule.sender);
        if (members !== undefined) return members.map((sender) => ({ ...rule, sender }));
        const { sender: _, ...everybody } = rule;
        return rule.action === 'allow' ? [] : [everybody];
      }),
    },
    plugins: plugins.map((one) => (one.users === undefined ? one : { ...one, users: people(one.users) })),
    mcp: mapValues(mcp, (one) => (one.users === undefined ? one : { ...one, users: people(one.users) })),
  };
}

/** The table without members that are undefined. */
function present<Table extends object>(table: Table): Table {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined)) as Table;
}

function mapValues<Value>(
  of: Readonly<Record<string, Value>>,
  change: (value: Value) => Value,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, change(value)]));
}
