import { startWholeBot, type WholeBotOptions } from './whole-bot.ts';

export const toml = [
  '[bot]\nowner = ["telegram:1001"]\ntimezone = "Europe/Berlin"\nshutdown_seconds = 1',
  '[access]\nusers = ["telegram:1002"]\ngroups_mode = "open"\ngroup_users = ["*"]\n[skills]\nbundled = false\n',
].join('\n');
export const olga = { id: 'telegram:1001', name: 'Olga', kind: 'person', timezone: 'Europe/Berlin' } as const;
export const ben = { ...olga, id: 'telegram:1002', name: 'Ben' } as const;
export const inBensDm = { creator: ben, conversation: { channel: 'telegram', chat: '1002' } } as const;
export const yearly = { kind: 'cron', expression: '0 9 1 1 *' } as const;

/** A bot with an owner, Olga, and a person, Ben, who wrote to it before. */
export async function startRoutineStage(
  t: Parameters<typeof startWholeBot>[0],
  options: WholeBotOptions = {},
) {
  const set = await startWholeBot(t, { toml, ...options });
  const owner = set.telegram.person({ name: 'Olga', id: 1001 });
  const person = set.telegram.person({ name: 'Ben', id: 1002 });
  // A bot can't write first.
  for (const one of [owner, person]) {
    one.says('/whoami');
    await one.dm.nextMessage(/You: /);
  }
  return { set, owner, person };
}
