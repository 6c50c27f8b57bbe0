import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { AccountBook, AccountOf, FoundAccount } from './account-book.ts';
import type { CheckedFetch } from './checked-fetch.ts';
import { errorKind } from './sign-in-needed.ts';

/** A token for a call. `none`: there is no account. `lapsed`: only a new sign-in helps. `away`: try later. */
export type TokenNow = Readonly<
  { kind: 'token'; token: string } | { kind: 'none' | 'lapsed' } | { kind: 'away'; why: string }
>;

export type FreshToken = (
  of: AccountOf & Readonly<{ url: string }>,
  /** A token that the server has refused. */
  refused?: string,
) => Promise<TokenNow>;

/** Milliseconds before its end from which a token is replaced. */
const earlyMs = 30_000;
/** How long one process may take to get new tokens, in milliseconds; afterwards another one tries. */
const renewMs = 30_000;
const lookEveryMs = 100;

/**
 * Returns the token of an account for one request, and gets a new one before it ends or when it was refused (X8). The
 * account is read each time, so that one that was removed counts no longer. Of all processes one gets new tokens, because
 * servers that rotate refresh tokens end an account when one is used twice.
 */
export function createFreshToken(deps: {
  book: AccountBook;
  fetchFor(server: string): CheckedFetch;
  clock: Clock;
  log: Log;
}): FreshToken {
  const { book, fetchFor, clock, log } = deps;

  /** Gets new tokens, if no other call does. Undefined: look again. */
  async function replace(found: FoundAccount): Promise<TokenNow | undefined> {
    const { account, server, subject } = found;
    const refresh = account.tokens.refresh;
    if (refresh === undefined) {
      await book.change(found, { ...account, lapsed: true });
      return { kind: 'lapsed' };
    }
    if (!(await book.change(found, { ...account, renewing: clock.now() + renewMs }))) return undefined;
    const claimed = await book.find(found);
    if (claimed === undefined) return { kind: 'none' };
    const { renew, isRefused } = await import('./tokens.ts');
    try {
      const tokens = await renew(account, refresh, { fetch: fetchFor(server), now: clock.now() });
      await book.change(claimed, { ...account, tokens, renewing: undefined });
      return { kind: 'token', token: tokens.access };
    } catch (error) {
      const lapsed = isRefused(error);
      await book.change(claimed, { ...account, lapsed, renewing: undefined });
      log.info(
        { server, person: subject, lapsed, kind: errorKind(error) },
        'could not renew the sign-in at an MCP server',
      );
      return lapsed
        ? { kind: 'lapsed' }
        : { kind: 'away', why: 'its authorization server cannot be reached now' };
    }
  }

  return async (of, refused) => {
    for (;;) {
      const found = await book.find(of);
      if (found === undefined || found.account.url !== of.url) return { kind: 'none' };
      const { tokens, lapsed, renewing } = found.account;
      if (lapsed === true) return { kind: 'lapsed' };
      const isOver = tokens.expiresAt !== undefined && tokens.expiresAt <= clock.now() + earlyMs;
      if (!isOver && tokens.access !== refused) return { kind: 'token', token: tokens.access };
      if (renewing !== undefined && renewing > clock.now()) await clock.sleep(lookEveryMs);
      else {
        const replaced = await replace(found);
        if (replaced !== undefined) return replaced;
      }
    }
  };
}
