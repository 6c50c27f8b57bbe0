import type { Message } from '../core/message.ts';
import type { Step, Store } from '../store/store.ts';
import { partKey } from '../replies/replies.ts';

/**
 * For an item that gets no answer: what a person saw in its place goes away, in one step with the item's end where `done`
 * is given (Q6, H7).
 */
export async function takeDown(
  { key, message }: Readonly<{ key: string; message?: Message }>,
  store: Pick<Store, 'commit' | 'outbox'>,
  done: Pick<Step, 'done'> = {},
): Promise<void> {
  const part = partKey(key, 0);
  const shown = message === undefined ? undefined : await store.outbox.shown(part);
  if (message !== undefined && shown !== undefined) {
    const { conversation } = message;
    return store.commit({ ...done, outbox: [{ key: part, conversation, part: { markdown: '' } }] });
  }
  if (done.done !== undefined) await store.commit(done);
}
