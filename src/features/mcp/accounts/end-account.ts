import type Keyv from 'keyv';
import type { Audit } from '../../../audit/create-audit.ts';
import type { Log } from '../../../lib/log.ts';
import { askedKey } from './ask-to-sign-in.ts';
import { recordName, type AccountBook, type AccountOf } from './account-book.ts';
import type { Reach } from './checked-fetch.ts';
import { errorKind } from './sign-in-needed.ts';

/** Removes an account, then revokes its tokens at the server if that supports it. False if there is none. */
export type EndAccount = (of: AccountOf) => Promise<boolean>;

export function createEndAccount(deps: {
  book: AccountBook;
  known: Keyv;
  reachFor(server: string): Reach;
  audit: Audit;
  ended(of: AccountOf): Promise<void>;
  log: Log;
}): EndAccount {
  const { book, known, reachFor, audit, ended, log } = deps;
  return async ({ subject, server }) => {
    const found = await book.find({ subject, server });
    // Removed first: it is not used any more, whether or not the server can be reached.
    if (found === undefined || !(await book.remove(found))) return false;
    await known.delete(askedKey(found));
    await ended({ subject, server });
    await audit.record({ event: 'capability_revoked', sender: subject, capability: recordName(server) });
    const { account } = found;
    const { revoke } = await import('./tokens.ts');
    await revoke(account, account.tokens, reachFor(server).fetch).catch((error: unknown) =>
      log.info({ server, kind: errorKind(error) }, 'could not revoke an account at an MCP server'),
    );
    return true;
  };
}
