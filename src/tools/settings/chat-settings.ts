import type Keyv from 'keyv';
import { z } from 'zod';
import type { ChatMigrations } from '../../access/chat-migrations.ts';
import { chatIdOf, type Conversation } from '../../core/conversation.ts';
import type { SettingField, SettingValue } from '../../core/setting-field.ts';
import type { SettingValues } from '../../core/tool-settings.ts';
import type { Tool } from '../../core/tool.ts';
import type { Log } from '../../lib/log.ts';
import type { Secret } from '../../lib/redaction/redact.ts';
import type { Store } from '../../store/store.ts';
import { isEntryOf, settingEntries } from './setting-entries.ts';

/** A tool as its settings are looked up. */
export type NamedTool = Pick<Tool, 'name' | 'settings'>;

/** What people set in chats. The threads of a chat share its settings (X3). */
export type ChatSettings = Readonly<{
  /** The values of a tool in this chat. They are not checked, because the tool may have changed. */
  of(conversation: Conversation, tool: NamedTool): Promise<SettingValues>;
  /** Stores a value; undefined removes it. `person` is the person whose direct message this chat is. */
  set(
    conversation: Conversation,
    tool: string,
    field: SettingField,
    value: SettingValue | undefined,
    person?: string,
  ): Promise<void>;
  /**
   * Removes the settings of a person's direct messages and of `places` (conversation keys), and open questions to the
   * person (Q12).
   */
  forget(sender: string, places: readonly string[]): Promise<void>;
  /** Secrets that were set in any chat. It is the same list until another is added. */
  secrets(): readonly Secret[];
  /** Registers a secret before it is used, so that it is redacted. */
  know(tool: string, key: string, value: SettingValue): void;
  /** Reads all secrets. Call it before anything is said. */
  load(): Promise<void>;
}>;

type Deps = Readonly<{ store: Store; migrations: ChatMigrations; log: Log }>;

/** Each setting is a row of its own, so that processes do not overwrite each other. */
export function createChatSettings({ store, migrations, log }: Deps): ChatSettings {
  const stored = store.keyed('tool-settings');
  let known: readonly Secret[] = [];
  store.signals.on('set', (what) => {
    if (what === secretSign)
      load().catch((error: unknown) => log.error({ err: error }, 'the settings of chats could not be read'));
  });

  function know(tool: string, key: string, value: SettingValue): void {
    for (const text of typeof value === 'object' ? value : [String(value)])
      if (!known.some((secret) => secret.value === text))
        known = [...known, { name: `${tool}.${key}`, value: text }];
  }

  async function load(): Promise<void> {
    for await (const { tool, key, row } of rowsOf(stored))
      if (row.secret === true) know(tool, key, row.value);
  }

  return {
    load,
    know,
    secrets: () => known,
    async of(conversation, { name, settings }) {
      const fields = settings?.fields ?? [];
      if (fields.length === 0) return {};
      const chat = chatIdOf(await migrations.original(conversation));
      const found = await stored.getMany<unknown>(fields.map(({ key }) => idOf(chat, name, key)));
      const values: Record<string, SettingValue> = {};
      fields.forEach(({ key, secret }, index) => {
        const row = storedRow.safeParse(found[index]).data;
        if (row === undefined) return;
        values[key] = row.value;
        // Another process may have stored this secret just now.
        if (secret || row.secret === true) know(name, key, row.value);
      });
      return values;
    },
    async set(conversation, tool, { key, secret }, value, person) {
      const id = idOf(chatIdOf(await migrations.original(conversation)), tool, key);
      if (value === undefined) return void (await stored.delete(id));
      // It is registered first, so that it is redacted from now on.
      if (secret) know(tool, key, value);
      await stored.set(id, { value, secret: secret || undefined, person } satisfies StoredRow);
      if (secret) await store.signals.send('set', secretSign);
    },
    async forget(sender, places) {
      const gone = new Set(places.map((place) => place.replace(/\/.*$/, '')));
      const rows: string[] = [];
      for await (const { id, chat, row } of rowsOf(stored))
        if (row.person === sender || gone.has(placeOfChat(chat))) rows.push(id);
      for (const id of rows) await stored.delete(id);
      await forgetQuestions(store.keyed(settingEntries), sender);
    },
  };
}

/** Removes the questions about settings that the person was asked. */
async function forgetQuestions(entries: Keyv, sender: string): Promise<void> {
  const asked: string[] = [];
  for await (const [key] of entries.iterator()) if (isEntryOf(String(key), sender)) asked.push(String(key));
  for (const key of asked) await entries.delete(key);
}

/** The signal to other processes that a secret was set. */
const secretSign = 'secret';

const storedRow = z.object({
  value: z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()]),
  secret: z.boolean().optional(),
  person: z.string().optional(),
});
type StoredRow = z.output<typeof storedRow>;

const rowId = z.tuple([z.string(), z.string(), z.string()]);

function idOf(chat: string, tool: string, key: string): string {
  return JSON.stringify([chat, tool, key] satisfies z.output<typeof rowId>);
}

type Row = Readonly<{ id: string; chat: string; tool: string; key: string; row: StoredRow }>;

async function* rowsOf(stored: Keyv): AsyncGenerator<Row> {
  for await (const [written, value] of stored.iterator()) {
    const row = storedRow.safeParse(value).data;
    if (row === undefined) continue;
    const id = String(written);
    const [chat, tool, key] = rowId.parse(JSON.parse(id));
    yield { id, chat, tool, key, row };
  }
}

/** How the conversation keys of a chat begin. */
function placeOfChat(chat: string): string {
  const [, channel = '', room = ''] = /^([^:]*):(.*)$/s.exec(chat) ?? [];
  return `${encodeURIComponent(channel)}:${encodeURIComponent(room)}`;
}
