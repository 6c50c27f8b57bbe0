import type { Store } from '../../stores/store.ts';
import type { PairingRequest } from './pairing.ts';

const text = 'You’re approved. Write to me, or ask me for help.';

/** Tells a person that the owner approved them, as soon as a bot runs. */
export function createWelcome(store: Pick<Store, 'commit'>): (request: PairingRequest) => Promise<void> {
  return ({ code, conversation }) =>
    store.commit({ outbox: [{ key: `welcome:${code}`, conversation, part: { markdown: text } }] });
}
