import { z } from 'zod';
import { chatIdOf, type Conversation } from '../core/conversation.ts';
import type { Log } from '../lib/log.ts';
import type { Secret } from '../lib/redaction/redact.ts';
import type { SettingField, SettingValue } from '../core/setting-field.ts';
import type { SettingValues } from '../core/tool-settings.ts';
import type { Tool } from '../core/tool.ts';
import type { Store } from '../store/store.ts';
import type { ChatMigrations } from '../access/chat-migrations.ts';
import { isEntryOf, settingEntries } from './setting-entries.ts';

type NamedTool = Pick<Tool, 'name' | 'settings'>;

/** What people set of tools in their chats (X3): of a whole chat, its threads included. */
export type ChatSettings = Readonly<{
  /** By key, as they were set: the tool may have changed since. */
  of(conversation: Conversation, tool: NamedTool): Promise<SettingValues>;
  /** Sets one, or without a value gives it up. `person`: whose direct messages these are. */
  set(
    conversation: Conversation,
    tool: string,
    field: SettingField,
    value: SettingValue | undefined,
    person?: string,
  ): Promise<void>;
  /** Removes what is set in a person's direct messages, and what they were to write; `places` are keys of conversations that went whole (Q12). */
  forget(sender: string, places: readonly string[]): Promise<void>;
  /** Every secret that is set in any chat, or was while this process ran; the same list until one is added. */
  secrets(): readonly Secret[];
  /** Takes a secret of a tool that is set elsewhere, before it is used. */
  know(tool: string, key: string, value: SettingValue): void;
  /** Reads what is set by now: at the start, before anything is said. */
  load(): Promise<void>;
}>;

/** A key of the store for each setting of a chat, so that two processes change it without harm to each other. */
export function createChatSettings(options: {
  store: Pick<Store, 'keyed' | 'signals'>;
  migrations: Pick<ChatMigrations, 'original'>;
  log: Log;
}): ChatSettings {
  const { store, migrations, log } = options;
  const { signals } = store;
  const stored = store.keyed('tool-settings');
  const onFault = (error: unknown): void =>
    log.error({ err: error }, 'the settings of chats could not be read');
  let known: readonly Secret[] = [];
  signals.on('set', (what) => {
    if (what === secretSign) load().catch(onFault);
  });

  async function keyOf(conversation: Conversation, tool: string, key: string): Promise<string> {
    return JSON.stringify([chatIdOf(await migrations.original(conversation)), tool, key]);
  }

  function note(tool: string, key: string, value: SettingValue): void {
    for (const text of typeof value === 'object' ? value : [String(value)])
      if (!known.some((secret) => secret.value === text))
        known = [...known, { name: `${tool}.${key}`, value: text }];
  }

  async function* rows(): AsyncGenerator<readonly [string, Kept]> {
    for await (const [key, value] of stored.iterator()) {
      const row = kept.safeParse(value);
      if (row.success) yield [String(key), row.data];
    }
  }

  async function load(): Promise<void> {
    for await (const [id, { value, secret }] of rows()) {
      const [, tool, key] = rowKey.parse(JSON.parse(id));
      if (secret === true) note(tool, key, value);
    }
  }

  return {
    load,
    secrets: () => known,
    know: note,
    async of(conversation, { name, settings }) {
      const fields = settings?.fields ?? [];
      if (fields.length === 0) return {};
      const keys = await Promise.all(fields.map(({ key }) => keyOf(conversation, name, key)));
      const found = await stored.getMany<unknown>(keys);
      const values: Record<string, unknown> = {};
      fields.forEach(({ key, secret }, index) => {
        const row = kept.safeParse(found[index]);
        if (!row.success) return;
        values[key] = row.data.value;
        // Another process may have taken it in a moment ago.
        if (secret || row.data.secret === true) note(name, key, row.data.value);
      });
      return values;
    },
    async set(conversation, tool, { key, secret }, value, person) {
      const id = await keyOf(conversation, tool, key);
      if (value === undefined) return void (await stored.delete(id));
      // Known before it is anywhere: from now on it is taken out of whatever is said.
      if (secret) note(tool, key, value);
      const row: Kept = {
        value,
        secret: secret || undefined,
        person,
      };
      await stored.set(id, row);
      if (secret) await signals.send('set', secretSign);
    },
    async forget(sender, places) {
      const gone = new Set(places.map((place) => place.replace(/\/.*$/, '')));
      const found: string[] = [];
      for await (const [id, { person }] of rows()) {
        const [chat] = rowKey.parse(JSON.parse(id));
        const [, channel = '', room = ''] = /^([^:]*):(.*)$/s.exec(chat) ?? [];
        if (person === sender || gone.has(`${encodeURIComponent(channel)}:${encodeURIComponent(room)}`))
          found.push(id);
      }
      for (const id of found) await stored.delete(id);
      const entries = store.keyed(settingEntries);
      const theirs: string[] = [];
      for await (const [key] of entries.iterator())
        if (isEntryOf(String(key), sender)) theirs.push(String(key));
      for (const key of theirs) await entries.delete(key);
    },
  };
}

/** What other processes are told: a secret was set. */
const secretSign = 'secret';

/** Chat id, tool, key. */
const rowKey = z.tuple([z.string(), z.string(), z.string()]);
const kept = z.object({
  value: z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()]),
  secret: z.boolean().optional(),
  person: z.string().optional(),
});
type Kept = z.output<typeof kept>;
