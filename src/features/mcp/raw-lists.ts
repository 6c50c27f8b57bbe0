import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';

const lists = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const;
const rawKey = 'skillet/raw';
/** Fits the SDK's schema of each kind of list. */
const standIn = { name: 'raw', uri: 'raw:', uriTemplate: 'raw:', inputSchema: { type: 'object' } };

/**
 * Hides the items of lists from the SDK, which in the newer protocol refuses a whole list for one item that is malformed
 * or nested too deep. `unwrapped` returns them as the server sent them.
 */
export function wrapLists(transport: Transport): void {
  let take: Transport['onmessage'];
  Object.defineProperty(transport, 'onmessage', {
    get: () => take,
    set(next: Transport['onmessage']) {
      take = next && ((message, extra) => next(wrapped(message), extra));
    },
  });
}

function wrapped<Message extends JSONRPCMessage>(message: Message): Message {
  if (!('result' in message)) return message;
  const found = lists.flatMap((key) => {
    const items: unknown = Reflect.get(message.result, key);
    const hidden = (raw: unknown): object => ({ ...standIn, _meta: { [rawKey]: raw } });
    return Array.isArray(items) ? [[key, items.map(hidden)] as const] : [];
  });
  return found.length === 0
    ? message
    : { ...message, result: { ...message.result, ...Object.fromEntries(found) } };
}

/** An item of a list as the server sent it. */
export function unwrapped(item: unknown): unknown {
  return (item as Readonly<{ _meta: Readonly<Record<string, unknown>> }>)._meta[rawKey];
}
