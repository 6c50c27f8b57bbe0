import type { Store } from '../store/store.ts';
import type { PairingRequest } from './pairing.ts';
import { sayIn } from '../core/texts/say.ts';

/** Tells a person that the owner approved them, as soon as a bot runs. */
export function createWelcome(store: Pick<Store, 'commit'>): (request: PairingRequest) => Promise<void> {
  return ({ code, conversation, language }) => {
    const markdown = sayIn(language)`You’re approved. Write to me, or ask me for help.`;
    return store.commit({ outbox: [{ key: `welcome:${code}`, conversation, part: { markdown } }] });
  };
}
