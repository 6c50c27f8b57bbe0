import { capabilityKeyFile } from '../../config/key-file.ts';
import type { Audit } from '../../audit/create-audit.ts';
import type { LinkedAccount } from './bridge-contract.ts';
import type { BridgeProvider } from '../../core/bridge-provider.ts';
import { capabilityKeyOnce, type CapabilityKey } from '../../accounts/capability-key.ts';
import { configuredProviders, type ConfiguredProviders } from './configured-providers.ts';
import { createDefinitions, type Definitions } from './definitions.ts';
import { createSignedCalls, type SignedCalls } from './signed-call.ts';
import type { Config } from '../../config/complete-config.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { CapabilityRecords, KeptAccount, KeptAccountKey } from '../../store/capability-records.ts';
import { skilletHere } from '../../core/skillet-here.ts';

type CapabilityBase = Readonly<{
  records: CapabilityRecords;
  /** Opens the key file, when it is first needed. */
  key: () => Promise<CapabilityKey>;
  /** The providers by the config in force. */
  providers: () => ConfiguredProviders;
  calls: SignedCalls;
  definitions: Definitions;
  accounts: Accounts;
}>;

export function createCapabilityBase(options: {
  config: () => Config;
  /** Providers that plugins bring. Undefined if no bot runs. */
  ofPlugins?: (config: Config) => readonly BridgeProvider[];
  records: CapabilityRecords;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
}): CapabilityBase {
  const { config, ofPlugins = () => [], records, env, clock, log } = options;
  const key = capabilityKeyOnce(() => capabilityKeyFile(config()), records);
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

/** The providers, computed again whenever the config has changed (G3). */
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

/** What the command line can do about capabilities (L1). */
export type CapabilityOperations = Readonly<{
  list(): Promise<Readonly<{ offered: readonly OfferedNamespace[]; problems: readonly string[] }>>;
  accounts(): Promise<readonly Account[]>;
  /** Removes a linked account. Throws OperatorError if there is none. */
  revoke(account: AccountRef): Promise<void>;
}>;

type OfferedNamespace = Readonly<{
  namespace: string;
  command: readonly string[];
  problem?: string;
  capabilities: readonly Readonly<{
    id: string;
    description: string;
    operations: readonly Readonly<{ name: string; mutating: boolean }>[];
  }>[];
}>;

export function createCapabilityOperations(
  { providers, definitions, accounts }: CapabilityBase,
  audit: Audit,
): CapabilityOperations {
  return {
    async list() {
      const offered = await Promise.all(providers().all.map(describe));
      return { offered, problems: providers().problems };
    },
    accounts: () => accounts.list({}),
    async revoke(account) {
      if (!(await accounts.remove(account)))
        throw new OperatorError(
          `${account.sender} has linked no ${account.ref} to ${account.capability}: see \`${skilletHere()} capability accounts\``,
        );
      const { sender, capability } = account;
      await audit.record({ event: 'capability_revoked', sender, capability });
    },
  };

  async function describe(provider: BridgeProvider): Promise<OfferedNamespace> {
    const { namespace, command } = provider;
    const known = await definitions(provider, new AbortController().signal);
    if (!known.ok)
      return { namespace, command, problem: `${known.code}: ${known.message}`, capabilities: [] };
    const capabilities = [...known.value.values()].map(({ id, description, operations }) => ({
      id,
      description,
      operations: [...operations].map(([name, { mutating }]) => ({ name, mutating })),
    }));
    return { namespace, command, capabilities };
  }
}

/** Names an account that a person linked, by the provider's `ref` of it. */
type AccountRef = Readonly<{ sender: string; capability: string; ref: string }>;

type Account = AccountRef & Readonly<{ linkedAt: number }>;

export type Accounts = Readonly<{
  /** Linked accounts, the oldest first. With `sender` or `capability` only those of that person or capability. */
  list(of: Readonly<{ sender?: string; capability?: string }>): Promise<readonly Account[]>;
  toKeep(
    of: Readonly<{ sender: string; capability: string; at: number }>,
    linked: LinkedAccount,
  ): Promise<KeptAccount>;
  remove(account: AccountRef): Promise<boolean>;
}>;

/** Keeps linked accounts. Their names are encrypted, too, so that a stolen store reveals no mailbox (C6). */
export function createAccounts(records: CapabilityRecords, key: () => Promise<CapabilityKey>): Accounts {
  const place = ({ sender, capability, name }: KeptAccountKey): string =>
    `account ${sender} ${capability} ${name}`;
  const nameOf = ({ hash }: CapabilityKey, of: AccountRef): string =>
    hash(JSON.stringify([of.sender, of.capability, of.ref]));

  return {
    async list(of) {
      const kept = await records.accounts(of);
      if (kept.length === 0) return [];
      const { open } = await key();
      return kept.map((account) => {
        const { account_ref: ref } = open(account.sealed, place(account)) as LinkedAccount;
        const { sender, capability, linkedAt } = account;
        return { sender, capability, ref, linkedAt };
      });
    },
    async toKeep({ sender, capability, at }, linked) {
      const opened = await key();
      const name = nameOf(opened, { sender, capability, ref: linked.account_ref });
      const sealed = opened.seal(linked, place({ sender, capability, name }));
      return { sender, capability, name, sealed, linkedAt: at };
    },
    async remove(account) {
      const { sender, capability } = account;
      return records.removeAccount({ sender, capability, name: nameOf(await key(), account) });
    },
  };
}
