import type { Models } from '../core/model.ts';
import type { Spent } from '../limits/sums.ts';
import type { Config } from '../config/complete-config.ts';
import type { ParsedConfig } from '../config/parse-config.ts';
import type { AccessSettings } from '../core/access-settings.ts';
import type { Channel } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Folders } from '../folders/folders.ts';
import type { Feature } from '../core/feature.ts';
import type { Log } from '../lib/log.ts';
import type { Meter } from '../core/meter.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { Store } from '../store/store.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { Operate } from '../operator/operations.ts';
import type { SkillSandbox } from '../skills/open-library.ts';
import type { Pairing } from '../access/pairing.ts';
import type { Users } from '../access/users.ts';
import type { LinkState } from '../core/server-state.ts';
import type { Plugins } from '../features/plugins/plugins.ts';
import type { Readiness } from '../operator/health/open-metrics.ts';
import type { Tracing } from '../operator/tracing/tracing.ts';
import type { StoreHealth } from '../operator/health/store-health.ts';

export type BotParts = Readonly<{
  config: Config;
  host: Readonly<{
    store: Store;
    health: Pick<StoreHealth, 'start' | 'stop' | 'patient' | 'admitting'> &
      Readonly<{ readiness(): Readiness }>;
    audit: Audit;
    meter: Meter;
    tracing?: Tracing | undefined;
    /** Environment variables; git needs some of them (D6). */
    env: Readonly<Record<string, string | undefined>>;
    clock: Clock;
    log: Log;
  }>;
  folders: Folders;
  library: SkillLibrary;
  skillSandbox: SkillSandbox;
  plugins: Plugins;
  channels: readonly Channel[];
  makeModels(config: Config): Models;
  terminals?: TerminalRules;
}>;

/** What is special about terminals and tests of skills. */
type TerminalRules = Readonly<{
  changeAccess?(access: AccessSettings): AccessSettings;
  /** Whether an owner at a terminal is there now. */
  isHere?(owner: string): boolean;
  canAsk?(conversation: Conversation): boolean;
  /** How many failed tries a message has before it is dead-lettered (Q3). */
  mostTries?(key: string): number;
  onDead(key: string): void;
  /** Called when the model has failed and no retry would help. */
  onFailed(key: string): void;
}>;

export type Bot = Readonly<{
  start(): Promise<void>;
  /** Stops accepting messages, finishes work or leaves it to be resumed, and sends what is left (Q7). */
  stop(): Promise<void>;
  /** Cancels what runs in a queue. Returns false if nothing ran there. */
  cancel(queue: string): Promise<boolean>;
  /** Resolves once nothing waits or runs and everything was sent. */
  idle(): Promise<void>;
  /** Waits a moment for tools of MCP servers that were never seen before (X7). */
  toolsSeen(): Promise<void>;
  /** What a person has spent today, and the model of a chat, which is empty if none is connected. */
  spent(sender: string, place: Conversation): Promise<Spent & Readonly<{ model: string }>>;
  operate: Operate;
  /** The state of MCP servers by name, without asking the store (L4). */
  servers(): Readonly<Record<string, LinkState>>;
  /** Takes an event that arrived at `POST /hooks/NAME` (N7). */
  receiveHook: NonNullable<Feature['receiveHook']>;
  /** Answers a browser that comes to this path. Undefined: nobody serves it. */
  page: NonNullable<Feature['page']>;
  users: Users;
  pairing: Pairing;
  redact(text: string): string;
  /** Takes a saved config, or reports what is wrong with it (G3). `lost` are keys that the file no longer has. */
  reconfigure(outcome: ParsedConfig, lost?: readonly string[]): void;
}>;
