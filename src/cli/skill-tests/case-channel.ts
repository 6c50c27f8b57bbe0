import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { saveFile } from '../../channels/save-file.ts';
import type { Channel, ChannelEvent, OnEvent } from '../../core/channel.ts';
import type { Message, Sender } from '../../core/message.ts';
import { fileText } from '../../lib/files/read-text.ts';
import type { CaseRun } from './judge-case.ts';
import type { ChatKind } from '../../core/conversation.ts';

/** How many bytes of a file a model that judges is shown. */
const mostOfFile = 8_000;

/** A channel with one person in one chat, which keeps what is sent (L3). */
type CaseChannel = Readonly<{
  channel: Channel;
  /** Sends a message to the bot. Resolves when it is stored or ignored. */
  say(message: Message): Promise<void>;
  /** The texts that stand in the chat, the oldest first. */
  shown(): readonly string[];
  sentFiles(): CaseRun['files'];
}>;

export function createCaseChannel(
  name: string,
  where: ChatKind & Readonly<{ sender: Sender }>,
  /** `approve` is the answer to questions for approval. Undefined counts as no. */
  { approve, skillFolder }: Readonly<{ approve: boolean | undefined; skillFolder: string }>,
): CaseChannel {
  const standing = new Map<string, string>();
  let take: OnEvent = () => Promise.reject(new Error('the bot has not started yet'));
  let sent = 0;
  const files: { name: string; text: string }[] = [];
  const channel: Channel = {
    name,
    async start(onEvent) {
      take = onEvent;
    },
    stop: async () => undefined,
    split: async (markdown) => (markdown.trim() === '' ? [] : [markdown]),
    files: { largest: Infinity, fitsCaption: () => true },
    async send(conversation, { markdown, buttons = [], file }, _key, begin) {
      await begin?.();
      if (file !== undefined) files.push({ name: file.name, text: await beginningOf(file.path) });
      const receipt = { id: String(++sent) };
      standing.set(receipt.id, file === undefined ? markdown : `${markdown}\n[file: ${file.name}]`);
      const wanted = buttons.find(({ label }) => label === (approve === true ? 'Approve' : 'Deny'));
      if (wanted !== undefined && 'action' in wanted) {
        const press = { ...where, id: `press-${sent}`, conversation, action: wanted.action, receipt };
        // Platforms deliver a press after the message.
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
    async fetchFile({ ref }, to) {
      await saveFile(createReadStream(path.join(skillFolder, ref)), to);
    },
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
    sentFiles: () => files,
  };
}

async function beginningOf(file: string): Promise<string> {
  const bytes = await readFile(file);
  return fileText(bytes.subarray(0, mostOfFile), bytes.length > mostOfFile) ?? '';
}
