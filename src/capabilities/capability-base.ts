import path from 'node:path';
import { createAccounts, type Accounts } from './accounts.ts';
import { openCapabilityKey, type CapabilityKey } from './capability-key.ts';
import type { BridgeProvider } from './call-bridge.ts';
import { configuredProviders, type ConfiguredProviders } from './configured-providers.ts';
import { createDefinitions, type Definitions } from './definitions.ts';
import { createSignedCalls, type SignedCalls } from './signed-call.ts';
import type { Config } from '../config/complete-config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { CapabilityRecords } from '../store/capability-records.ts';

/** What capabilities stand on, with a running bot and without. */
export type CapabilityBase = Readonly<{
  records: CapabilityRecords;
  /** Opens the key file when it is first needed. */
  key: () => Promise<CapabilityKey>;
  /** Of the config in force. */
  providers: () => ConfiguredProviders;
  calls: SignedCalls;
  definitions: Definitions;
  accounts: Accounts;
}>;

export function createCapabilityBase(options: {
  config: () => Config;
  /** What plugins bring, as config has them now; nothing where no bot runs. */
  ofPlugins?: (config: Config) => readonly BridgeProvider[];
  records: CapabilityRecords;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
}): CapabilityBase {
  const { config, ofPlugins = () => [], records, env, clock, log } = options;
  const key = keyOnce(() => {
    const { capabilities, bot } = config();
    return openCapabilityKey(capabilities.keyFile ?? path.join(bot.dataDir, 'capabilities.key'), records);
  });
  const calls = createSignedCalls({ key, env, clock, log });
  return {
    records,
    key,
    providers: providersOf(config, ofPlugins),
    calls,
    definitions: createDefinitions({ fetch: calls.definitions, clock }),
    accounts: createAccounts(records, key),
  };
}

/** Read anew when the config in force is another one (G3). */
function providersOf(
  config: () => Config,
  ofPlugins: (config: Config) => readonly BridgeProvider[],
): () => ConfiguredProviders {
  const last: { of?: Config; providers?: ConfiguredProviders } = {};
  return () => {
    const now = config();
    if (last.of !== now || last.providers === undefined) {
      last.of = now;
      last.providers = configuredProviders(now, ofPlugins(now));
    }
    return last.providers;
  };
}

/** Opened when first needed; one that could not be opened is tried again. */
function keyOnce(open: () => Promise<CapabilityKey>): () => Promise<CapabilityKey> {
  const kept: { key?: Promise<CapabilityKey> } = {};
  return () => {
    if (kept.key !== undefined) return kept.key;
    const opened = open();
    kept.key = opened;
    opened.catch(() => {
      if (kept.key === opened) delete kept.key;
    });
    return opened;
  };
}
