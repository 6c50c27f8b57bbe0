import type { Store } from '../../stores/store.ts';
import type { PairingRequest } from './pairing.ts';

const text = 'You are let in. Write to me; /help says what I can do.';

/** Tells a person that the owner let them in, as soon as a bot runs. */
export function createWelcome(store: Pick<Store, 'commit'>): (request: PairingRequest) => Promise<void> {
  return ({ code, conversation }) =>
    store.commit({ outbox: [{ key: `welcome:${code}`, conversation, part: { markdown: text } }] });
}
