import type { Message } from '../../src/core/message.ts';

/** A direct message from `telegram:42`, changed as the test wants it. */
export function makeMessage(change: Partial<Message> = {}): Message {
  return {
    id: 'telegram:42:1',
    conversation: { channel: 'telegram', chat: '42' },
    chatType: 'private',
    external: false,
    sender: { id: 'telegram:42', name: 'Ada', kind: 'person' },
    text: 'hello',
    addressed: true,
    attachments: [],
    sentAt: Date.UTC(2026, 0, 1),
    ...change,
  };
}
