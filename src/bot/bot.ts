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
import type { Operate } from '../operator/operations.ts';
import type { SkillSandbox } from '../skills/open-library.ts';
import type { Pairing } from '../access/pairing.ts';
import type { Users } from '../access/users.ts';
import type { Plugins } from '../plugins/plugins.ts';
import type { Readiness } from '../operator/health/open-metrics.ts';
import type { StoreHealth } from '../operator/health/store-health.ts';

export type BotParts = Readonly<{
  config: Config;
  host: Readonly<{
    store: Store;
    /** Work waits for it in an outage (Q11). */
    health: Pick<StoreHealth, 'start' | 'stop'> & Readonly<{ readiness?(): Readiness }>;
    audit: Audit;
    meter: Meter;
    /** Of the process: git needs some of it (D6). */
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

/** For people whose messages the process itself brings: at a terminal, or in a skill's test. */
export type TerminalRules = Readonly<{
  /** Has the last word on access. */
  changeAccess?(access: AccessSettings): AccessSettings;
  /** An owner at a terminal may be away. */
  isHere?(owner: string): boolean;
  /** Whether somebody there could answer a question. */
  canAsk?(conversation: Conversation): boolean;
  /** Failed tries before a message is dead-lettered (Q3). */
  mostTries?(key: string): number;
  /** A message was dead-lettered. */
  onDead(key: string): void;
  /** The model failed for good. */
  onFailed(key: string): void;
}>;

export type Bot = Readonly<{
  /** Resolves when every channel takes events. */
  start(): Promise<void>;
  /** Accepts nothing more, finishes or checkpoints, flushes (Q7). */
  stop(): Promise<void>;
  /** False if nothing ran in this queue. */
  cancel(queue: string): Promise<boolean>;
  /** Resolves when nothing waits or runs, and everything was sent. */
  idle(): Promise<void>;
  /** Waits a moment for tools of servers that were never seen (X7). */
  toolsSeen(): Promise<void>;
  operate: Operate;
  users: Users;
  pairing: Pairing;
  redact(text: string): string;
  /** Takes a saved config, or reports what is wrong with it (G3). */
  reconfigure(outcome: ParsedConfig): void;
}>;
