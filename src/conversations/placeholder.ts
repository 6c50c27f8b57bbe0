import { createHash } from 'node:crypto';
import type { Channel, Placeholder, Receipt } from '../core/channel.ts';
import type { Message } from '../core/message.ts';
import { sayIn } from '../core/texts/say.ts';
import { partKey } from '../replies/replies.ts';
import type { Outbox } from '../store/outbox.ts';
import type { Step, Store } from '../store/store.ts';
import type { ProgressWork } from './progress.ts';

/** Stores where the placeholder was posted, so that a restart reuses the message. */
export function createPlaceholder(
  { conversation, part, replyTo, asked, language, resumed, signal }: ProgressWork,
  channel: Channel,
  outbox: Outbox,
): Placeholder {
  // A key of its own, so that a search for the answer does not find the placeholder.
  const key = keyOfPlaceholder(part);
  let known: Promise<Receipt | undefined> | undefined;

  async function keep(receipt: Receipt | undefined): Promise<void> {
    // If the work was lost, another process may own the placeholder.
    signal.throwIfAborted();
    await outbox.show(part, receipt);
    known = Promise.resolve(receipt);
  }

  async function lookUp(): Promise<Receipt | undefined> {
    const stored = await outbox.shown(part);
    if (stored !== undefined || !resumed) return stored;
    const found = await channel.find(conversation, key);
    // Nobody knows whether this shows a line or words, so it is removed rather than edited.
    const line = found === undefined ? undefined : { ...found, silent: true as const };
    if (line !== undefined) await outbox.show(part, line);
    return line;
  }

  return {
    key,
    replyTo,
    asked,
    stop: { label: sayIn(language)`Stop`, action: `${stopPress}:${codeOf(key)}` },
    keep,
    async posted() {
      known ??= lookUp();
      try {
        return await known;
      } catch (error) {
        known = undefined;
        throw error;
      }
    },
  };
}

function keyOfPlaceholder(part: string): string {
  return `${part}!status`;
}

/** The key of the placeholder that shows the work on an item of the inbox. */
export function placeholderOf(item: string): string {
  return keyOfPlaceholder(partKey(item, 0));
}

/** The first word of what a placeholder's stop button does. */
export const stopPress = 'halt';

/** Names a placeholder in a button, which holds 64 bytes at most. */
export function codeOf(placeholder: string): string {
  return createHash('sha256').update(placeholder).digest('hex').slice(0, 16);
}

/** Removes the placeholder, in one transaction with `done` if that is given (Q6, H7). */
export async function removePlaceholder(
  { key, message }: Readonly<{ key: string; message?: Message }>,
  store: Store,
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
