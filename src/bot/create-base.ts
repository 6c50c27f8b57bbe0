import type { ChatMigrations } from '../access/chat-migrations.ts';
import { createUserGroups, type UserGroups } from '../access/user-groups.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Config } from '../config/complete-config.ts';
import { createRuntimeConfig } from '../config/runtime-config.ts';
import { createAnsweredThreads, type AnsweredThreads } from '../conversations/threads.ts';
import type { Channel, WriteCommand } from '../core/channel.ts';
import { createKeptFiles, type KeptFiles } from '../operator/kept-files.ts';
import { createPeople, type People } from '../operator/operate.ts';
import { createReplies, type Replies } from '../replies/replies.ts';
import type { Host } from '../runs/work-deps.ts';
import type { ChatSettings } from '../settings/chat-settings.ts';
import type { BotParts } from './bot.ts';
import { createModelNotices } from './model-notices.ts';
import { cleanAudit, cleanChannel, cleanModels, cleanStore, type Clean } from './redacting-doors.ts';

export type Base = Readonly<{
  host: Host & Readonly<{ audit: Audit; migrations: ChatMigrations }>;
  /** The redaction for the secrets of the current config and chat settings (S2). */
  clean: Clean;
  people: Pick<People, 'users' | 'pairing' | 'groups' | 'welcome' | 'accessOf'>;
  chat: Readonly<{
    channels: ReadonlyMap<string, Channel>;
    writeCommand: WriteCommand;
    replies: Replies;
    answered: AnsweredThreads;
    settings: ChatSettings;
  }>;
  process: Readonly<{ env: BotParts['host']['env']; stopping: AbortController }>;
  files: KeptFiles;
  userGroups: UserGroups;
  written(): Config;
  /** Puts a config into force. Without one, members of user groups have changed (A13). */
  apply(config?: Config): void;
}>;

export function createBase(parts: BotParts): Base {
  const { clock, log, env } = parts.host;
  // Text leaves the bot only through these three, which redact it (S2).
  const clean: Clean = () => now.redaction;
  const store = cleanStore(parts.host.store, clean);
  const audit = cleanAudit(parts.host.audit, clean);
  const channels = new Map(parts.channels.map((channel) => [channel.name, cleanChannel(channel, clean)]));
  const { migrations, settings, ...people } = createPeople(
    { store, audit, clock, log },
    {
      access: () => now.access,
      language: () => now.config.bot.language,
      isHere: parts.terminals?.isHere,
    },
  );
  const modelNotices = createModelNotices({
    tell: (...told) => replies.tellOwners(...told),
    config: () => now.config,
    clock,
    onFault: (error) => log.error({ err: error }, 'the owners could not be told'),
  });
  const runtimeOf = (config: Config) =>
    createRuntimeConfig(
      config,
      (of, redaction) => cleanModels(modelNotices(parts.makeModels(of)), () => redaction),
      parts.terminals?.changeAccess,
      settings.secrets,
      env,
    );
  const userGroups = createUserGroups({ channels, clock, log });
  let written = parts.config;
  let now = runtimeOf(userGroups.expand(written));

  const files = createKeptFiles(parts.folders);
  const { outgoing } = files;
  const replies = createReplies({
    ...people.users,
    store,
    outgoing,
    channels,
    redact: () => now.redact,
    log,
  });
  return {
    host: { runtime: () => now, store, audit, migrations, clock, log },
    clean,
    people,
    chat: {
      channels,
      replies,
      writeCommand: (conversation, name, args) =>
        channels.get(conversation.channel)?.command(conversation, name, args) ?? `/${name}`,
      answered: createAnsweredThreads(store),
      settings,
    },
    process: { env, stopping: new AbortController() },
    files,
    userGroups,
    written: () => written,
    apply(config = written) {
      written = config;
      now = runtimeOf(userGroups.expand(config));
    },
  };
}
