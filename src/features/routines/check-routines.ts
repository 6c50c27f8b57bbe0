import type { Config } from '../../config/complete-config.ts';
import { conversationOf } from '../../config/hook-sections.ts';
import { formatKeyPath } from '../../config/section.ts';
import { operatorZone } from '../../core/local-time.ts';
import { readWhen } from './read-when.ts';

type Written = Config['routines'][number];
type Wrong = Readonly<{ level: 'error' | 'warning'; key: 'when' | 'as' | 'conversation'; message: string }>;

/**
 * Finds `[[routines]]` that could never run (N2). A time that has passed is only a warning, because the routine may
 * have run.
 */
export function checkRoutines(config: Config) {
  return config.routines.flatMap((written, index) =>
    [...wrongTime(written, config), ...wrongPlace(written, config)].map(({ level, key, message }) => {
      const path = ['routines', index, key];
      return {
        level,
        code: 'ROUTINE_UNUSABLE',
        key: path,
        message: `${formatKeyPath(path)}: ${message}`,
      } as const;
    }),
  );
}

function wrongTime({ when, timezone }: Written, { bot }: Config): readonly Wrong[] {
  const read = readWhen(when, { zone: timezone ?? operatorZone({ bot }), now: Date.now() });
  if (read.ok) return [];
  return [{ level: read.isPast === true ? 'warning' : 'error', key: 'when', message: read.problem }];
}

function wrongPlace({ as, conversation }: Written, { telegram, slack }: Config): readonly Wrong[] {
  const { channel, chat } = conversationOf(conversation);
  const wrong = (key: Wrong['key'], message: string): readonly Wrong[] => [{ level: 'error', key, message }];
  if (channel === 'telegram' && telegram.token === undefined)
    return wrong('conversation', 'Telegram is not set up. Write [telegram] token, or another conversation.');
  if (channel === 'slack' && slack.botToken === undefined)
    return wrong('conversation', 'Slack is not set up. Write [slack] bot_token, or another conversation.');
  if (!as.startsWith(`${channel}:`))
    return wrong(
      'as',
      `"${as}" is not of ${channel}, where the routine runs. Write an id such as "${example(channel)}".`,
    );
  if (as.startsWith('telegram:-'))
    return wrong('as', `"${as}" is a group. Write the id of a person, such as "telegram:42".`);
  // On Telegram, a direct message has the id of its person.
  if (channel === 'telegram' && !chat.startsWith('-') && as !== `telegram:${chat}`)
    return wrong('as', `a direct message takes only routines of its own person. Write "telegram:${chat}".`);
  return [];
}

function example(channel: string): string {
  return channel === 'slack' ? 'slack:U042ABC' : `${channel}:42`;
}
