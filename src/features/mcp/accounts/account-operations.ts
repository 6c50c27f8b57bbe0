import { z } from 'zod';
import type { Desk } from '../../../app.ts';
import { capabilityKeyOnce } from '../../../accounts/capability-key.ts';
import { capabilityKeyFile } from '../../../config/key-file.ts';
import { OperatorError } from '../../../core/errors.ts';
import { changes, noInput, reads, textInput } from '../../../core/operation.ts';
import { skilletHere } from '../../../core/skillet-here.ts';
import { createAccountBook, type AccountBook } from './account-book.ts';
import { createReachFor } from './create-server-accounts.ts';
import { createEndAccount, type EndAccount } from './end-account.ts';

/** An account as operators see it, without anything that is secret. */
type ListedAccount = Readonly<{
  person: string;
  server: string;
  since: number;
  scope: string | undefined;
  /** `lapsed`: the person has to sign in again. */
  state: 'usable' | 'lapsed';
}>;

const oneAccount = z.object({ person: textInput, server: textInput });

/** What operators can do about accounts at MCP servers, and what goes with a person (X8, Q12). */
export function accountsAtRest(
  book: AccountBook,
  end: EndAccount,
  forgetRest: (sender: string) => Promise<unknown>,
) {
  return {
    operations: {
      'accounts list': reads(noInput, async (): Promise<readonly ListedAccount[]> => {
        const all = await book.list();
        return all.map(({ subject, server, since, account }) => ({
          person: subject,
          server,
          since,
          scope: account.tokens.scope ?? account.authority.scope,
          state: account.lapsed === true ? 'lapsed' : 'usable',
        }));
      }),
      'accounts remove': changes(oneAccount, async ({ person, server }) => {
        if (!(await end({ subject: person, server })))
          throw new OperatorError(
            `${person} has no account at ${server}: see \`${skilletHere()} accounts list\``,
          );
        return { removed: true };
      }),
    },
    async forget(sender: string) {
      const theirs = await book.list(sender);
      for (const account of theirs) await end(account);
      await forgetRest(sender);
      return { serverAccounts: theirs.length };
    },
  };
}

/** The same while no bot runs. */
export function accountsOfDesk({ store, audit, config, log }: Desk) {
  const records = store.serverAccounts;
  const book = createAccountBook(
    records,
    capabilityKeyOnce(() => capabilityKeyFile(config()), records),
  );
  const end = createEndAccount({
    ...{ book, known: store.keyed('server-sign-ins'), audit, log },
    reachFor: createReachFor(() => config().mcp, config),
    ended: async () => undefined,
  });
  return accountsAtRest(book, end, records.forget);
}
