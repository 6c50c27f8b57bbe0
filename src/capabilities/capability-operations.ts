import type { Account } from './accounts.ts';
import type { BridgeProvider } from './call-bridge.ts';
import { OperatorError } from '../core/errors.ts';
import type { Audit } from '../audit/create-audit.ts';
import type { CapabilityBase } from './capability-base.ts';

/** What the command line asks (L1). */
export type CapabilityOperations = Readonly<{
  list(): Promise<Readonly<{ offered: readonly OfferedNamespace[]; problems: readonly string[] }>>;
  accounts(): Promise<readonly Account[]>;
  /** Throws OperatorError where there is none. */
  revoke(account: Pick<Account, 'sender' | 'capability' | 'ref'>): Promise<void>;
}>;

export type OfferedNamespace = Readonly<{
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
  { providers, definitions, accounts }: Pick<CapabilityBase, 'providers' | 'definitions' | 'accounts'>,
  audit: Pick<Audit, 'record'>,
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
          `${account.sender} has linked no ${account.ref} to ${account.capability}: see \`skillet capability accounts\``,
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
