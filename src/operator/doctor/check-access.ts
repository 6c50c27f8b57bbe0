import { allowedChatTypes, isSensitive } from '../../access/decide-skill.ts';
import type { Config } from '../../config/complete-config.ts';
import { placeInFile } from '../../config/config-problem.ts';
import { accessSettings, skillRules } from '../../config/runtime-config.ts';
import { formatKeyPath, type KeyPath } from '../../config/section.ts';
import type { AccessLevel } from '../../core/access-settings.ts';
import type { Skill } from '../../core/skill.ts';
import { check, type Check, type Found } from './finding.ts';

type Hole = Readonly<{ level: 'warning' | 'note'; code: string; key: KeyPath; message: string }>;

/** Finds rules that admit more people than is usual, and lists that admit nobody. */
export function checkAccess(config: Config, skills: readonly Skill[]): Check {
  const { general, channels, chats } = accessSettings(config);
  const levels: readonly (readonly [KeyPath, AccessLevel])[] = [
    [['access'], general],
    ...[...channels].map(([name, level]) => [['access', name], level] as const),
    ...[...chats].map(([id, level]) => [['access', 'chats', id], level] as const),
  ];
  const holes = [...levels.flatMap(([at, level]) => ofLevel(at, level)), ...ofSkills(config, skills)];
  const placeOf = placeInFile(config.path);
  const found = holes.map(({ key, ...hole }): Found => ({
    ...hole,
    path: config.path,
    line: placeOf(key)?.line,
  }));
  const { dm = 'pairing', users = [], groups = [] } = general;
  return check('access', `dm ${dm}, ${users.length} users, ${groups.length} groups`, found);
}

function ofLevel(at: KeyPath, { dm, groupsMode, users = [] }: AccessLevel): readonly Hole[] {
  const hole = (code: string, key: string, message: string): Hole => ({
    level: code === 'EVERYBODY' ? 'note' : 'warning',
    code,
    key: [...at, key],
    message: `${formatKeyPath([...at, key])} ${message}`,
  });
  return [
    ...(dm === 'open' ? [hole('DM_OPEN', 'dm', 'admits everybody who writes directly')] : []),
    ...(groupsMode === 'open' ? [hole('GROUPS_OPEN', 'groups_mode', 'admits every group')] : []),
    ...users.filter((user) => user.endsWith(':*')).map((user) => hole('EVERYBODY', 'users', `has "${user}"`)),
  ];
}

function ofSkills(config: Config, skills: readonly Skill[]): readonly Hole[] {
  const rules = skillRules(config);
  const empty = [...rules.skills].filter(([, { allowUsers }]) => allowUsers?.length === 0);
  const reachable = skills.filter(
    (skill) => isSensitive(skill, rules) && allowedChatTypes(skill, rules).some((type) => type !== 'private'),
  );
  return [
    ...empty.map(([name]): Hole => ({
      level: 'note',
      code: 'NOBODY',
      key: ['skills', name, 'allow_users'],
      message: `skills.${name}.allow_users is empty, so nobody may use ${name}`,
    })),
    ...reachable.map((skill): Hole => ({
      level: 'warning',
      code: 'SENSITIVE_IN_GROUPS',
      key: ['skills', skill.name, 'chat_types'],
      message: `${skill.name} is sensitive and may be used in ${allowedChatTypes(skill, rules).join(', ')} chats`,
    })),
  ];
}
