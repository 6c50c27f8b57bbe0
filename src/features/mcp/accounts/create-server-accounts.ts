import type Keyv from 'keyv';
import { capabilityKeyOnce } from '../../../accounts/capability-key.ts';
import { createGuardSignIns, failureText, type GuardSignIns } from '../../../accounts/guard-sign-ins.ts';
import { createSignInWorker } from '../../../accounts/sign-in-worker.ts';
import type { App } from '../../../app.ts';
import { capabilityKeyFile } from '../../../config/key-file.ts';
import { conversationKey } from '../../../core/conversation.ts';
import { sayIn, type Say } from '../../../core/texts/say.ts';
import type { WebPage } from '../../../core/web-page.ts';
import { inlineCode } from '../../../lib/text/text.ts';
import { directMessage } from '../../../replies/private-parts.ts';
import { signedIn, type McpSettings } from '../mcp-settings.ts';
import { createAccountBook, sharedSubject, type AccountBook, type AccountOf } from './account-book.ts';
import { askedKey, createAskToSignIn, type AskToSignIn } from './ask-to-sign-in.ts';
import { callbackPath, clientPath, createBeginSignIn } from './begin-sign-in.ts';
import { reachOf, type Reach } from './checked-fetch.ts';
import { createEndAccount, type EndAccount } from './end-account.ts';
import { createLostAccounts } from './end-lost-accounts.ts';
import { createFreshToken, type FreshToken } from './fresh-token.ts';
import type { OpenSignIn } from './sign-in.ts';
import { signInPage } from './sign-in-page.ts';
import { createSignIns, type SignIns, type SignInStep } from './sign-ins.ts';
import { createTakeAnswer, readQuery } from './take-answer.ts';

/** Accounts of people at MCP servers, and how they sign in (X8). */
export type ServerAccounts = Readonly<{
  book: AccountBook;
  ask: AskToSignIn;
  token: FreshToken;
  end: EndAccount;
  /** Notes that the server refused the account, so that only a new sign-in helps. */
  lapse(of: AccountOf): Promise<void>;
  messages: GuardSignIns;
  /** Answers a browser. Undefined: the path is none of a sign-in. */
  page(path: string, query: URLSearchParams): Promise<WebPage> | undefined;
  /** Does what is due in sign-ins, and ends accounts of people who lost access, until the signal aborts. */
  attend(signal: AbortSignal): Promise<unknown>;
  /** Call when another config is in force: somebody may have lost access by it. */
  follow(): void;
  /** Ends open sign-ins of a person; returns how many there were. */
  callOff(sender: string, conversation?: string): Promise<number>;
}>;

export function createServerAccounts(
  app: App,
  /** Called when an account is usable or gone, so that nothing of the one before is used. */
  changed: (of: AccountOf, is: 'linked' | 'ended') => Promise<void>,
): ServerAccounts {
  const { config, store, users, channels, replies, audit, clock, log } = app;
  const records = store.serverAccounts;
  const known: Keyv = store.keyed('server-sign-ins');
  const key = capabilityKeyOnce(() => capabilityKeyFile(config()), records);
  const book = createAccountBook(records, key);
  const reachFor = createReachFor(() => config().mcp, config);
  const signIns = createSignIns({ records, key, book, reachFor, clock, log });
  const publicUrl = (): string | undefined => config().server.publicUrl?.replace(/\/+$/, '');

  const { linked, crossed, report } = createReports(app, known, changed);
  const worker = createSignInWorker({
    records,
    async advance(kept) {
      const step = await signIns.advance(kept);
      await report(step);
      if (step.kind === 'linked') await signIns.told(step.signIn);
    },
    clock,
    log,
  });
  const take = createTakeAnswer({ records, key, signIns, linked, crossed, wake: worker.wake, clock });
  const end = createEndAccount({
    ...{ book, known, reachFor, audit, log },
    ended: (of) => changed(of, 'ended'),
  });
  const lost = createLostAccounts(app, book, end, () => signedIn(config().mcp));
  return {
    book,
    ask: createAskToSignIn({
      ...{ begin: createBeginSignIn({ records, key, known, publicUrl, reachFor, clock }), known },
      ...{ isOwner: users.isOwner, store, replies, audit, clock, log },
    }),
    token: createFreshToken({ book, fetchFor: (server) => reachFor(server).fetch, clock, log }),
    end,
    async lapse(of) {
      const found = await book.find(of);
      if (found !== undefined) await book.change(found, { ...found.account, lapsed: true });
    },
    messages: createGuardSignIns({ take, channels, replies, audit, log }),
    page: createPages({ signIns, report, publicUrl }),
    attend: (signal) => Promise.all([worker.run(signal), lost.run(signal)]),
    follow: lost.wake,
    callOff: (sender, conversation) => records.endFlows({ sender, conversation }),
  };
}

/** Tells people and the audit what became of their sign-ins. */
function createReports(
  { store, replies, audit, writeCommand }: App,
  known: Keyv,
  changed: (of: AccountOf, is: 'linked' | 'ended') => Promise<void>,
) {
  async function tell(signIn: OpenSignIn, word: string, text: (say: Say) => string): Promise<void> {
    const { sender, language, chatType, conversation } = signIn.content.requester;
    const to = chatType === 'private' ? conversation : directMessage(sender);
    await store.commit({
      outbox: await replies.rows(to, `sign-in:${signIn.id}!${word}`, text(sayIn(language))),
    });
  }

  async function record(
    { sender, capability, content }: OpenSignIn,
    step: 'provider' | 'confirmation',
    outcome: string,
  ) {
    const { conversation, chatType } = content.requester;
    const where = { conversation: conversationKey(conversation), chatType };
    await audit.record({ event: 'capability_sign_in', sender, ...where, capability, step, outcome });
  }

  async function linked(signIn: OpenSignIn): Promise<void> {
    const { server, subject, requester } = signIn.content;
    await known.delete(askedKey({ subject, server }));
    await changed({ subject, server }, 'linked');
    const ends = writeCommand(directMessage(requester.sender), 'disconnect', server);
    await tell(signIn, 'linked', (say) => linkedText({ server, subject, ends }, say));
    await record(signIn, 'confirmation', 'ok');
  }

  async function crossed(signIn: OpenSignIn): Promise<void> {
    await tell(
      signIn,
      'crossed',
      (say) =>
        say`Somebody else sent me the answer of your sign-in at ${inlineCode(signIn.content.server)}, so I ended it. Ask me again to start over, and give the link to nobody.`,
    );
    await record(signIn, 'confirmation', 'refused');
  }

  /** Tells people and the audit what became of a step. */
  async function report(step: SignInStep): Promise<void> {
    if (step.kind === 'linked') return linked(step.signIn);
    if (step.kind === 'proof') return record(step.signIn, 'provider', 'ok');
    if (step.kind !== 'ended') return;
    const { signIn, code } = step;
    await tell(signIn, 'ended', () => failureText(code, true, signIn.content.requester.language));
    await record(signIn, 'provider', code);
  }

  return { linked, crossed, report };
}

/** How to reach what servers name: besides the public internet, the origins that their sections name. */
export function createReachFor(
  settings: () => Readonly<Record<string, McpSettings>>,
  config: Parameters<typeof reachOf>[0],
): (server: string) => Reach {
  return (server) => {
    const { url, issuer } = settings()[server] ?? {};
    return reachOf(
      config,
      [url, issuer].filter((one) => one !== undefined),
    );
  };
}

function createPages({
  signIns,
  report,
  publicUrl,
}: Readonly<{
  signIns: SignIns;
  report(step: SignInStep): Promise<void>;
  publicUrl(): string | undefined;
}>): ServerAccounts['page'] {
  async function callback(query: URLSearchParams): Promise<WebPage> {
    const [state = '', ...more] = query.getAll('state');
    const signIn = more.length > 0 ? undefined : await signIns.ofState(state);
    if (signIn === undefined) return signInPage({ kind: 'unknown' });
    const step = await signIns.answer(signIn, readQuery(query));
    await report(step);
    return signInPage(step);
  }

  /** The bot as a client of authorization servers that read such documents. */
  async function client(address: string): Promise<WebPage> {
    const { clientMetadata } = await import('./authority.ts');
    const about = {
      client_id: `${address}${clientPath}`,
      client_uri: address,
      ...clientMetadata(`${address}${callbackPath}`),
    };
    return { status: 200, type: 'application/json', body: JSON.stringify(about, null, 2) };
  }

  return (path, query) => {
    const address = publicUrl();
    if (address === undefined) return undefined;
    if (path === callbackPath) return callback(query);
    return path === clientPath ? client(address) : undefined;
  };
}

function linkedText({ server, subject, ends }: AccountOf & Readonly<{ ends: string }>, say: Say): string {
  return subject === sharedSubject
    ? say`Connected. I now use this account at ${inlineCode(server)} for everybody who may use it.`
    : say`Connected. I now use your account at ${inlineCode(server)} for what you ask me. ${ends} ends that. Ask me again for what you wanted.`;
}
