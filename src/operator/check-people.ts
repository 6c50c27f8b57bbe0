import { existsSync } from 'node:fs';
import { listsId } from '../access/chat-migrations.ts';
import { otherApprovers } from '../access/approvers.ts';
import type { Config } from '../config/complete-config.ts';
import { placeInFile } from '../config/config-problem.ts';
import { accessSettings } from '../config/runtime-config.ts';
import { formatKeyPath, type KeyPath } from '../config/section.ts';
import type { Diagnostic } from '../core/codes.ts';

export type SlipCode = 'APPROVER_NO_USER' | 'FOUR_EYES_ALONE' | 'FOLDER_MISSING';

/**
 * Finds what is valid in the config but has no effect: approvers who may not talk to the bot, a rule with `four_eyes`
 * that nobody could approve, and a folder of skills that does not exist. `paired` are people who are users by the
 * store; undefined where it was not read.
 */
export function configSlips(config: Config, paired?: readonly string[]): readonly Diagnostic[] {
  const placeOf = placeInFile(config.path);
  const slip = (code: SlipCode, key: KeyPath, message: string): Diagnostic => ({
    level: 'warning',
    code,
    field: formatKeyPath(key),
    path: config.path,
    line: placeOf(key)?.line,
    message,
  });
  const unless =
    paired === undefined ? ' Unless they were approved in a chat, their answers are refused' : '';
  const unknown = unknownApprovers(config, paired ?? []);
  const { userDir, agentsDir } = config.skills;
  const folders = [
    ['user_dir', userDir],
    ['agents_dir', agentsDir],
  ] as const;
  return [
    ...unknown.map((id) =>
      slip(
        'APPROVER_NO_USER',
        ['policy', 'approvers'],
        `policy.approvers has ${id}, who is no user of the bot: write ${id} into [access] users, too.${unless}`,
      ),
    ),
    ...rulesWithoutOthers(config, paired === undefined ? [] : unknown).map((rule) =>
      slip(
        'FOUR_EYES_ALONE',
        ['policy', 'approvers'],
        `the rule with four_eyes for ${rule} has no other approver: write another person into [policy] approvers`,
      ),
    ),
    ...folders.flatMap(([key, folder]) =>
      folder !== undefined && placeOf(['skills', key]) !== undefined && !existsSync(folder)
        ? [slip('FOLDER_MISSING', ['skills', key], `skills.${key}: there is no folder ${folder}`)]
        : [],
    ),
  ];
}

/**
 * Rules with `four_eyes` whose calls nobody but the requester could approve (T8), in words such as `tool "deploy_*"`.
 */
function rulesWithoutOthers({ policy }: Config, unknown: readonly string[]): readonly string[] {
  const able = policy.approvers.filter((id) => !unknown.includes(id));
  return policy.rules.flatMap(({ fourEyes, action: _, ...of }) =>
    fourEyes && otherApprovers(able, of.sender ?? '').length === 0
      ? [
          Object.entries(of)
            .map(([key, value]) => `${key} "${value}"`)
            .join(', '),
        ]
      : [],
  );
}

function unknownApprovers(config: Config, paired: readonly string[]): readonly string[] {
  const { owners, general, channels, chats } = accessSettings(config);
  const levels = [general, ...channels.values(), ...chats.values()];
  if (levels.some(({ dm }) => dm === 'open')) return [];
  const users = [
    ...levels.flatMap(({ users = [], groupUsers = [] }) => [...users, ...groupUsers]),
    ...owners,
    ...paired,
  ];
  const everybody = users.filter((id) => id === '*' || id.endsWith(':*'));
  return config.policy.approvers.filter(
    (id) =>
      !id.startsWith('slack:usergroup:') &&
      !users.includes(id) &&
      !listsId(users, id) &&
      !everybody.some((one) => one === '*' || id.startsWith(one.slice(0, -1))),
  );
}
