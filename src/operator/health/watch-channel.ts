import type { Channel } from '../../core/channel.ts';
import type { StoreHealth } from './store-health.ts';
import type { Vitals } from './vitals.ts';

/** The channel, watched: its events are noted and, while the store can't be used, refused, so that the platform sends them again (Q11). */
export function watchChannel(
  channel: Channel,
  vitals: Pick<Vitals, 'channel' | 'event'>,
  health: Pick<StoreHealth, 'admitting'>,
): Channel {
  const { name } = channel;
  vitals.channel(name, 'starting');
  return {
    ...channel,
    async start(onEvent) {
      await channel.start((event) => {
        vitals.event(name);
        return health.admitting(() => onEvent(event));
      });
      vitals.channel(name, 'started');
    },
    async stop() {
      vitals.channel(name, 'stopped');
      await channel.stop();
    },
  };
}
