import type { AccessSettings } from '../../core/access-settings.ts';

/** Who types in a terminal, unless `--user` says otherwise. */
export const terminalOwner = 'owner';

/**
 * The access rules with those of terminals (A9, H5): the terminal's owner owns the bot, and the rooms a terminal pretends to
 * be in are allowed ones. Only the control socket (0600) and the process's own terminal make senders of that kind.
 */
export function terminalAccess(access: AccessSettings, channel: string): AccessSettings {
  const rooms = { ...access.channels.get(channel), groupsMode: 'open' } as const;
  return {
    ...access,
    owners: [...access.owners, `terminal:${terminalOwner}`],
    channels: new Map([...access.channels, [channel, rooms]]),
  };
}
