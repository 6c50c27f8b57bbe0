import type { App } from '../../../app.ts';
import { waitUntil } from '../../../lib/async/wait-until.ts';
import { directMessage } from '../../../replies/private-parts.ts';
import type { McpSettings } from '../mcp-settings.ts';
import { sharedSubject, type AccountBook, type FoundAccount } from './account-book.ts';
import type { EndAccount } from './end-account.ts';
import { serversOf } from './servers-of.ts';

/** How often accounts are looked through, in milliseconds: pairings and groups of users change without the config. */
const everyMs = 3_600_000;

export type LostAccounts = Readonly<{
  /** Looks through all accounts now, because the config changed. */
  wake(): void;
  /** Looks at once, after each `wake`, and once an hour, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}>;

/**
 * Ends the accounts of people who may no longer use them, and revokes their tokens (X8). Each call judges access itself,
 * so such an account is not used any more even before. That of a server which the config lacks at the moment stays.
 */
export function createLostAccounts(
  app: App,
  book: AccountBook,
  end: EndAccount,
  settings: () => Readonly<Record<string, McpSettings>>,
): LostAccounts {
  const { users, membersKnown, clock, log } = app;
  const worker: { wake?: () => void } = {};

  async function isLost({ subject, server }: FoundAccount): Promise<boolean> {
    const all = settings();
    const section = all[server];
    if (section === undefined || subject === sharedSubject) return false;
    const of = {
      conversation: directMessage(subject),
      chatType: 'private',
      external: false,
      sender: { id: subject, kind: 'person' },
    } as const;
    if (!(await serversOf(app, of, all)).includes(server)) return true;
    // In groups, people act whom nothing names.
    const isDirectOnly = (section.chatTypes ?? ['private']).every((type) => type === 'private');
    return isDirectOnly && !(await users.mayAct(of)).allowed;
  }

  async function lookThrough(signal: AbortSignal): Promise<number> {
    if (signal.aborted) return everyMs;
    try {
      // Before that, nobody would be in a group of users.
      await membersKnown();
      for (const account of await book.list()) {
        if (!(await isLost(account)) || !(await end(account))) continue;
        const { subject, server } = account;
        log.info({ person: subject, server }, 'ended the account of somebody who lost access');
      }
    } catch (error) {
      log.warn({ err: error }, 'could not look for accounts of people who lost access: trying again');
    }
    return everyMs;
  }

  return {
    wake: () => worker.wake?.(),
    async run(signal) {
      const subscribe = (wake: () => void) => {
        worker.wake = wake;
        return () => undefined;
      };
      await waitUntil(() => lookThrough(signal), { signal, clock, subscribe }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    },
  };
}
