import { accessSettings } from '../config/access-from-config.ts';
import type { Config } from '../config/complete-config.ts';
import { systemClock } from '../core/clock.ts';
import { openStore } from '../stores/open-store.ts';
import type { Operate } from './control.ts';
import { createMovedChats } from './moved-chats.ts';
import { createOperate } from './operate.ts';
import { createPairing } from './pairing.ts';
import { createPeople } from './people.ts';
import { createWelcome } from './welcome.ts';

/** The operator's commands on the store itself, for when no bot runs (Q9). Fails when one does, naming its pid. */
export async function openOperate(config: Config): Promise<{ operate: Operate; close(): Promise<void> }> {
  const store = await openStore(config.store.url);
  const moved = createMovedChats({
    stored: store.keyed('moved'),
    signals: store.signals,
    clock: systemClock,
  });
  const people = createPeople({ stored: store.keyed('people'), access: () => accessSettings(config), moved });
  const pairing = createPairing({ stored: store.keyed('pairing'), people, clock: systemClock });
  const welcome = createWelcome(store);
  return { operate: createOperate({ store, people, pairing, welcome }), close: store.close };
}
