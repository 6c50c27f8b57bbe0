import type { Models } from '../core/model.ts';
import type { Config } from '../config/complete-config.ts';
import type { ParsedConfig } from '../config/parse-config.ts';
import type { AccessSettings } from '../core/access-settings.ts';
import type { Channel } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Log } from '../lib/log.ts';
import type { Meter } from '../core/meter.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { Store } from '../store/store.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Operate } from '../channels/terminal/control.ts';
import type { SkillSandbox } from '../skills/open-library.ts';
import type { Pairing } from '../access/pairing.ts';
import type { Users } from '../access/users.ts';
import type { Plugins } from '../plugins/plugins.ts';
import type { StoreHealth } from '../operator/health/store-health.ts';

/** Parts that are opened before the bot and closed after it. */
export type BotParts = Readonly<{
  config: Config;
  host: Readonly<{
    store: Store;
    /** The health of `store`: what is started in an outage waits there (Q11). */
    health: Pick<StoreHealth, 'start' | 'stop'>;
    audit: Audit;
    meter: Meter;
    /** The process's own: what git needs of it is taken (D6). */
    env: Readonly<Record<string, string | undefined>>;
    clock: Clock;
    log: Log;
  }>;
  library: SkillLibrary;
  skillSandbox: SkillSandbox;
  plugins: Pick<Plugins, 'source' | 'providers' | 'diagnostics'>;
  channels: readonly Channel[];
  makeModels(config: Config): Models;
  terminals?: TerminalRules;
}>;

/** What is different for people whose messages the process itself brings: at a terminal, or in a skill's test. */
export type TerminalRules = Readonly<{
  /** Has the last word on access. */
  changeAccess?(access: AccessSettings): AccessSettings;
  /** Whether an owner can be told things: one of a terminal only while it is there. */
  isHere?(owner: string): boolean;
  /** Whether somebody in a conversation could answer what the bot asks. */
  canAsk?(conversation: Conversation): boolean;
  /** Failed tries of a message before it is given up, by its key: fewer where somebody waits (Q3). */
  mostTries?(key: string): number;
  /** Told of each message that was given up. */
  onDead(key: string): void;
  /** Told of each message over which the model failed for good. */
  onFailed(key: string): void;
}>;

export type Bot = Readonly<{
  /** Resolves when every channel takes events; work left from before continues meanwhile. */
  start(): Promise<void>;
  /** Stops accepting, finishes or checkpoints what runs, flushes (Q7). */
  stop(): Promise<void>;
  /** Cancels what runs in a queue now; false where nothing did. */
  cancel(queue: string): Promise<boolean>;
  /** Resolves when nothing waits or runs, and everything was sent. */
  idle(): Promise<void>;
  /** For anyone who asks once and goes: waits a moment for tools of servers that were never seen (X7). */
  toolsSeen(): Promise<void>;
  operate: Operate;
  users: Users;
  pairing: Pairing;
  /** Takes the secrets of the config in force out of text. */
  redact(text: string): string;
  /** Takes a saved config in, or reports what is wrong with it (G3). */
  reconfigure(outcome: ParsedConfig): void;
}>;
