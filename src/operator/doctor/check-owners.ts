import { createModels } from '../../agent/models/create-models.ts';
import { configSlips } from '../check-people.ts';
import { claimedOwners, pairedPeople } from '../../access/users.ts';
import type { Config } from '../../config/complete-config.ts';
import { placeInFile } from '../../config/config-problem.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { StoreLook } from '../../store/look-at-store.ts';
import { check, type Check, type Found } from './finding.ts';

/** Checks whether people can reach the bot, and whether it can reach its owners. */
export function checkChannels(config: Config, store: StoreLook, log: Log): Check {
  const { telegram, slack, bot } = config;
  const channels = [
    ...(telegram.token === undefined ? [] : ['telegram']),
    ...(slack.botToken === undefined ? [] : ['slack']),
  ];
  const owners = [...new Set([...bot.owner, ...claimed(store)])];
  const models = createModels(config.models, { log, clock: systemClock });
  const found: readonly (Found | undefined)[] = [
    channels.length > 0
      ? undefined
      : { level: 'note', code: 'NO_CHANNEL', message: 'neither Telegram nor Slack is configured' },
    models.offline
      ? { level: 'note', code: 'NO_MODEL', message: 'no language model is connected' }
      : undefined,
    ...(channels.length === 0 ? [] : ofOwners(config, owners, channels, isKnown(store))),
    ...configSlips(config, 'keys' in store ? [...pairedPeople(store.keys), ...claimed(store)] : undefined),
  ];
  const said = `${channels.join(', ') || 'none'}; owners: ${owners.join(', ') || 'none'}`;
  return check(
    'channels',
    said,
    found.filter((one) => one !== undefined),
  );
}

function ofOwners(
  { path: file }: Config,
  owners: readonly string[],
  channels: readonly string[],
  sure: boolean,
): readonly Found[] {
  if (owners.length === 0 && sure)
    return [{ level: 'warning', code: 'NO_OWNER', message: 'nobody owns this bot' }];
  return owners
    .filter((owner) => !channels.some((channel) => owner.startsWith(`${channel}:`)))
    .map((owner) => ({
      level: 'warning',
      code: 'OWNER_UNREACHABLE',
      message: `${owner} is an owner, and that channel is not configured`,
      path: file,
      line: placeInFile(file)(['bot', 'owner'])?.line,
    }));
}

/** Owners who claimed the bot, who are only in the store. */
function claimed(store: StoreLook): readonly string[] {
  return 'keys' in store ? claimedOwners(store.keys) : [];
}

function isKnown({ state }: StoreLook): boolean {
  return state === 'absent' || state === 'ready' || state === 'older';
}
