import type { Channel, WriteCommand } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { redactDeep } from '../lib/redaction/redact-deep.ts';
import type { Tool } from '../core/tool.ts';
import type { Store } from '../store/store.ts';
import type { Audit } from '../audit/create-audit.ts';
import { createChangeSetting } from './change-setting.ts';
import type { ChatSettings } from './chat-settings.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import type { OutsideTools } from '../tools/outside-tools.ts';
import type { Users } from '../access/users.ts';
import { createSettingEntries, settingEntries } from './setting-entries.ts';
import { createSettingsInForce, type SettingsInForce } from './settings-in-force.ts';
import { createSettingsTalk, type SettingsTalk } from './settings-talk.ts';
import type { Replies } from '../replies/replies.ts';

/** Settings of tools in one bot: what holds for calls, and how people change it. */
export type Settings = SettingsTalk &
  Pick<SettingsInForce, 'forCall'> &
  Readonly<{
    /** Reads what is set and waited for: before anything is said or heard. */
    load(): Promise<void>;
  }>;

export function createSettings(options: {
  runtime: () => RuntimeConfig;
  store: Pick<Store, 'keyed' | 'signals'>;
  chats: ChatSettings;
  web: () => readonly Tool[];
  outside: Pick<OutsideTools, 'all'>;
  users: Pick<Users, 'isOwner'>;
  channels: ReadonlyMap<string, Channel>;
  writeCommand: WriteCommand;
  replies: Pick<Replies, 'answer' | 'say'>;
  audit: Pick<Audit, 'record'>;
  clock: Clock;
  log: Log;
}): Settings {
  const { runtime, store, chats, web, outside, users, channels, writeCommand } = options;
  const { replies, audit, clock, log } = options;
  const config = () => runtime().config;
  const inForce = createSettingsInForce({ config, chats, log });
  const entries = createSettingEntries({
    stored: store.keyed(settingEntries),
    signals: store.signals,
    clock,
  });
  const talk = createSettingsTalk({
    tools: () =>
      [...web(), ...outside.all()]
        .filter(({ settings }) => settings !== undefined)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    inForce,
    change: createChangeSetting({ config, chats, audit }),
    entries,
    users,
    approvers: () => config().policy.approvers,
    holdsSecret: (value) => redactDeep(value, (text) => runtime().redact(text)) !== value,
    channels,
    writeCommand,
    replies,
    log,
  });
  return {
    ...talk,
    forCall: inForce.forCall,
    async load() {
      await Promise.all([chats.load(), entries.load()]);
    },
  };
}
