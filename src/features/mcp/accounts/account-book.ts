import type { CapabilityKey } from '../../../accounts/capability-key.ts';
import type { CapabilityRecords, KeptAccount } from '../../../store/capability-records.ts';
import type { Grant, AccountTokens } from './tokens.ts';

/** An account of a person at a server, as it is stored encrypted (X8). */
export type ServerAccount = Grant &
  Readonly<{
    /** The server's address when they signed in. The tokens are for no other. */
    url: string;
    tokens: AccountTokens;
    /** Set once the authorization server has refused: only a new sign-in helps. */
    lapsed?: boolean | undefined;
    /** Until when (Unix ms) one process gets new tokens, so that a refresh token is used once. */
    renewing?: number | undefined;
  }>;

/** Whose account at which server. `subject` is a person's id, or `shared` for one that all use. */
export type AccountOf = Readonly<{ subject: string; server: string }>;

export type FoundAccount = AccountOf & Readonly<{ account: ServerAccount; since: number; kept: KeptAccount }>;

export type AccountBook = Readonly<{
  find(of: AccountOf): Promise<FoundAccount | undefined>;
  /** Accounts of this person, or of everybody, the oldest first. */
  list(subject?: string): Promise<readonly FoundAccount[]>;
  toKeep(of: AccountOf, account: ServerAccount, at: number): Promise<KeptAccount>;
  /** Stores a change. False if the account changed meanwhile, or was removed. */
  change(found: FoundAccount, account: ServerAccount): Promise<boolean>;
  remove(of: AccountOf): Promise<boolean>;
}>;

/** Whose accounts are when everybody uses one. No person has such an id. */
export const sharedSubject = 'shared';

/** The name of a server in the store's records. */
export const recordName = (server: string): string => `mcp:${server}`;

/** A person has one account at a server, so its record needs no name. */
const only = 'account';

export function createAccountBook(
  records: CapabilityRecords,
  key: () => Promise<CapabilityKey>,
): AccountBook {
  const place = (sender: string, capability: string): string => `server account ${sender} ${capability}`;

  async function open(all: readonly KeptAccount[]): Promise<readonly FoundAccount[]> {
    if (all.length === 0) return [];
    const opened = await key();
    return all.map((kept) => ({
      subject: kept.sender,
      server: kept.capability.slice(recordName('').length),
      account: opened.open(kept.sealed, place(kept.sender, kept.capability)) as ServerAccount,
      since: kept.linkedAt,
      kept,
    }));
  }

  async function toKeep(
    { subject, server }: AccountOf,
    account: ServerAccount,
    at: number,
  ): Promise<KeptAccount> {
    const capability = recordName(server);
    const sealed = (await key()).seal(account, place(subject, capability));
    return { sender: subject, capability, name: only, sealed, linkedAt: at };
  }

  return {
    find: async ({ subject, server }) =>
      (await open(await records.accounts({ sender: subject, capability: recordName(server) })))[0],
    list: async (subject) => open(await records.accounts(subject === undefined ? {} : { sender: subject })),
    toKeep,
    change: async (found, account) =>
      records.changeAccount(await toKeep(found, account, found.since), found.kept.sealed),
    remove: ({ subject, server }) =>
      records.removeAccount({ sender: subject, capability: recordName(server), name: only }),
  };
}
