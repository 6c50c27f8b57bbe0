import type { LinkedAccount } from './bridge-contract.ts';
import type { CapabilityRecords, KeptAccount } from '../store/capability-records.ts';
import type { CapabilityKey } from './capability-key.ts';

/** An account as its person knows it. */
export type Account = Readonly<{ sender: string; capability: string; ref: string; linkedAt: number }>;

export type Accounts = Readonly<{
  /** Oldest first; of one person, of one capability, where they are named. */
  list(of: Readonly<{ sender?: string; capability?: string }>): Promise<readonly Account[]>;
  /** What is to be kept of an account that its provider linked. */
  toKeep(
    of: Readonly<{ sender: string; capability: string; at: number }>,
    linked: LinkedAccount,
  ): Promise<KeptAccount>;
  /** False where there was none. */
  remove(account: Pick<Account, 'sender' | 'capability' | 'ref'>): Promise<boolean>;
}>;

/** Linked accounts, by user and capability (C6). What they are called is sealed, too: a stolen store names nobody's mailbox. */
export function createAccounts(
  records: Pick<CapabilityRecords, 'accounts' | 'removeAccount'>,
  key: () => Promise<CapabilityKey>,
): Accounts {
  const place = ({ sender, capability, name }: Pick<KeptAccount, 'sender' | 'capability' | 'name'>): string =>
    `account ${sender} ${capability} ${name}`;
  const nameOf = ({ hash }: CapabilityKey, of: Pick<Account, 'sender' | 'capability' | 'ref'>): string =>
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
