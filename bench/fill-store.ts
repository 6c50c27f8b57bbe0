import { systemClock } from '../src/core/clock.ts';
import type { Entry } from '../src/core/entry.ts';
import { openStore } from '../src/stores/open-store.ts';
import type { Store } from '../src/stores/store.ts';
import { makeMessage } from '../test/support/make-message.ts';

/** Stored side by side: no store has to make more of them wait than it has connections for. */
const batch = 50;

/** Conversations that were answered before: a message, its answer and the part that was sent. */
export async function fillStore(url: string, conversations: number): Promise<void> {
  if (conversations === 0) return;
  const store = await openStore(url, { clock: systemClock });
  for (let first = 0; first < conversations; first += batch) {
    const chats = Array.from({ length: Math.min(batch, conversations - first) }, (_, n) =>
      String(900_000_000 + first + n),
    );
    await Promise.all(chats.map((chat) => answerOnce(store, chat)));
  }
  await store.close();
}

async function answerOnce(store: Store, chat: string): Promise<void> {
  const conversation = { channel: 'telegram', chat };
  const transcript = `telegram:${chat}`;
  const message = makeMessage({ id: `telegram:${chat}:1`, conversation });
  await store.inbox.accept(message, { now: Date.now() });
  const entries: readonly Entry[] = [
    { kind: 'user', item: message.id, sender: transcript, content: 'hello', at: Date.now() },
    { kind: 'notice', text: 'filled', at: Date.now() },
  ];
  const key = `${message.id}#0`;
  await store.commit({
    entries: entries.map((entry) => ({ transcript, entry })),
    outbox: [{ key, conversation, part: { markdown: 'hi' } }],
    done: message.id,
  });
  await store.outbox.sent(key, { id: '1' });
}
