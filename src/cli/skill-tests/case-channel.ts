import type { Channel, ChannelEvent, OnEvent } from '../../core/channel.ts';
import type { Message } from '../../core/message.ts';
import { noFileToFetch } from '../../channels/save-file.ts';

/** A channel with one person in one chat, for a case of a skill's tests (L3): what is sent is kept, nothing is shown. */
export type CaseChannel = Readonly<{
  channel: Channel;
  /** Resolves when it is stored, or rightly ignored. */
  say(message: Message): Promise<void>;
  /** What stands in the chat, oldest first. */
  shown(): readonly string[];
}>;

export function createCaseChannel(
  name: string,
  where: Pick<Message, 'chatType' | 'external' | 'sender'>,
  /** What the person answers where the bot asks for a yes. */
  approve: boolean | undefined,
): CaseChannel {
  const standing = new Map<string, string>();
  let take: OnEvent = () => Promise.reject(new Error('the bot has not started yet'));
  let sent = 0;
  const channel: Channel = {
    name,
    async start(onEvent) {
      take = onEvent;
    },
    stop: async () => undefined,
    split: (markdown) => (markdown.trim() === '' ? [] : [markdown]),
    files: { largest: Infinity, fitsCaption: () => true },
    async send(conversation, { markdown, buttons = [], file }, _key, begin) {
      await begin?.();
      const receipt = { id: String(++sent) };
      standing.set(receipt.id, file === undefined ? markdown : `${markdown}\n[file: ${file.name}]`);
      const wanted = buttons.find(({ label }) => label === (approve === true ? 'Approve' : 'Deny'));
      if (wanted !== undefined && 'action' in wanted) {
        const press = { ...where, id: `press-${sent}`, conversation, action: wanted.action, receipt };
        // A platform tells of a press after it has told of the message.
        setImmediate(() => void take({ type: 'press', press }));
      }
      return receipt;
    },
    find: async () => undefined,
    async edit(_, { id }, { markdown }) {
      standing.set(id, markdown);
    },
    async remove(_, { id }) {
      standing.delete(id);
    },
    status: async () => undefined,
    fetchFile: noFileToFetch,
    setMenus: async () => [],
    lookUpChat: async () => ({ chatType: where.chatType, external: where.external }),
    command: (_, name, args = '') => `\`${`/${name} ${args}`.trim()}\``,
    directLink: () => undefined,
  };
  return {
    channel,
    async say(message) {
      const event: ChannelEvent = { type: 'message', message };
      await take(event);
    },
    shown: () => [...standing.values()].filter((text) => text.trim() !== ''),
  };
}
