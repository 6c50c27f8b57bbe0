import type { ChatMigrations } from './access/chat-migrations.ts';
import type { AccessContext } from './access/decide-skill.ts';
import type { Groups } from './access/groups.ts';
import type { Pairing, PairingRequest } from './access/pairing.ts';
import type { Users } from './access/users.ts';
import type { Audit } from './audit/create-audit.ts';
import type { Config } from './config/complete-config.ts';
import type { RuntimeConfig } from './config/runtime-config.ts';
import type { ToolTable } from './core/built-in-tools.ts';
import type { Channel, WriteCommand } from './core/channel.ts';
import type { CommandTable } from './core/chat-commands.ts';
import type { Conversation } from './core/conversation.ts';
import type { Meter } from './core/meter.ts';
import type { DeliverArtifacts, Tool } from './core/tool.ts';
import type { Folders } from './folders/folders.ts';
import type { Clock } from './lib/clock.ts';
import type { Log } from './lib/log.ts';
import type { Budgets } from './limits/budgets.ts';
import type { SendLargeTables } from './replies/large-tables.ts';
import type { Replies } from './replies/replies.ts';
import type { AnsweredThreads } from './replies/threads.ts';
import type { WorkStates } from './replies/work-states.ts';
import type { SkillSandbox } from './skills/open-library.ts';
import type { SkillLibrary } from './skills/skill-library.ts';
import type { Store } from './store/store.ts';
import type { OutsideTools } from './tools/outside-tools.ts';
import type { ChatAgent } from './tools/settings/chat-agent.ts';
import type { ChatSettings } from './tools/settings/chat-settings.ts';
import type { SettingsInForce } from './tools/settings/settings-in-force.ts';

/**
 * What the whole bot shares, built once by `bot/create-app.ts`. A part of the bot takes it, or names the members that it
 * uses. Store, audit and channels redact the secrets of the current config and chat settings (S2).
 */
export type App = Readonly<{
  /** The config in force, with what was made of it. Call it each time: it changes when the file is saved (G3). */
  runtime: () => RuntimeConfig;
  /** The same config without what was made of it. */
  config: () => Config;
  store: Store;
  audit: Audit;
  meter: Meter;
  clock: Clock;
  log: Log;
  /** Environment variables; git needs some of them (D6). */
  env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the bot stops, so that nothing waits any longer. */
  stopping: AbortSignal;
  /** Does a step, and waits while the store is away. `repeatable`: the step may be repeated if its end is unknown (Q11). */
  patient<T>(call: () => Promise<T>, how?: Readonly<{ repeatable: boolean }>): Promise<T>;

  migrations: ChatMigrations;
  users: Users;
  pairing: Pairing;
  groups: Groups;
  /** Resolves once the members of user groups are known, or at once if the config names none (A13). */
  membersKnown(): Promise<void>;
  /** Tells a person that they were approved. */
  welcome(request: PairingRequest): Promise<void>;
  accessOf: AccessContext;

  channels: ReadonlyMap<string, Channel>;
  /** Commands of chats: the spine's own, and those of all features. */
  chatCommands: CommandTable;
  /** Writes a command as people type it in this chat. */
  writeCommand: WriteCommand;
  replies: Replies;
  answered: AnsweredThreads;
  workStates: WorkStates;
  deliverArtifacts: DeliverArtifacts;
  sendLargeTables: SendLargeTables;
  /** Whether somebody in this conversation can be asked. */
  canAsk(conversation: Conversation): boolean;

  library: SkillLibrary;
  skillSandbox: SkillSandbox;
  folders: Folders;
  budgets: Budgets;
  /** Hashes of tools' definitions by the tools' names, for tools that others can change (X7). */
  definitionHashes(): Promise<ReadonlyMap<string, string>>;
  /** The bot's own tools, and those of all features. */
  builtInTools: ToolTable;
  /** Tools of plugins and MCP servers. */
  outside: OutsideTools;
  /** All tools whose settings can be set in a chat. */
  toolsWithSettings(): readonly Tool[];
  chatSettings: ChatSettings;
  settings: SettingsInForce;
  chatAgent: ChatAgent;
}>;

/** What operators act on, with a running bot and without one. */
export type Desk = Pick<
  App,
  | 'store'
  | 'audit'
  | 'clock'
  | 'log'
  | 'env'
  | 'migrations'
  | 'users'
  | 'pairing'
  | 'groups'
  | 'welcome'
  | 'accessOf'
  | 'chatSettings'
  | 'config'
  | 'definitionHashes'
>;
