import { createHash } from 'node:crypto';
import type Keyv from 'keyv';
import type { CapabilityKey } from '../../../accounts/capability-key.ts';
import { conversationKey } from '../../../core/conversation.ts';
import type { Requester } from '../../../core/tool.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { CapabilityRecords } from '../../../store/capability-records.ts';
import type { McpSettings } from '../mcp-settings.ts';
import { recordName } from './account-book.ts';
import type { Authority, SignInClient } from './authority.ts';
import type { Reach } from './checked-fetch.ts';
import { newSignInId, newState, openSignIn, sealSignIn, signInMs, type OpenSignIn } from './sign-in.ts';
import { SignInProblem, type Challenge } from './sign-in-needed.ts';

/** Where browsers come back to after a sign-in, below the public address of the bot. */
export const callbackPath = '/accounts/callback';
export const clientPath = '/accounts/client.json';
/** Where a browser is sent if the bot has no public address. Nothing answers there: the person copies the address. */
const pasteUrl = 'http://127.0.0.1:7357/accounts/callback';

export type BeginSignIn = (
  of: Readonly<{
    server: string;
    settings: McpSettings;
    subject: string;
    requester: Requester;
    /** What the server said to the call. Undefined: it is asked. */
    challenge?: Challenge | undefined;
  }>,
) => Promise<Readonly<{ signIn: OpenSignIn; isNew: boolean }>>;

type BeginDeps = Readonly<{
  records: CapabilityRecords;
  key: () => Promise<CapabilityKey>;
  /** What is known of authorization servers: by server the pinned issuer, and the bot's registration there. */
  known: Keyv;
  publicUrl(): string | undefined;
  reachFor(server: string): Reach;
  clock: Clock;
}>;

/**
 * Begins a sign-in, or returns the open one of this person at this server (X8). Throws SignInProblem if the server can't
 * be signed in to.
 */
export function createBeginSignIn(deps: BeginDeps): BeginSignIn {
  const { records, key, known, publicUrl, reachFor, clock } = deps;
  const clientOf = createClientOf(deps);
  const openOf = createOpenOf(deps);

  return async ({ server, settings, subject, requester, challenge }) => {
    const opened = await key();
    const now = clock.now();
    const pending = await openOf({ server, settings, requester, challenge });
    if (pending !== undefined) return { signIn: pending, isNew: false };
    const { url = '', scopes } = settings;
    const { findAuthority, askForChallenge } = await import('./authority.ts');
    const reach = reachFor(server);
    const pinKey = `issuer ${server} ${url}`;
    const pinned = settings.issuer ?? (await known.get<string>(pinKey));
    const said = challenge ?? (await askForChallenge(url, reach.fetch));
    const authority = await findAuthority(url, { challenge: said, pinned, scopes }, reach);
    const back = publicUrl();
    const redirectUrl = back === undefined ? pasteUrl : `${back}${callbackPath}`;
    const client = await clientOf({ server, settings, authority, redirectUrl });
    await known.set(pinKey, authority.issuer);
    const id = newSignInId();
    const state = newState(id);
    const { beginSignIn } = await import('./tokens.ts');
    const { link, verifier } = await beginSignIn({ authority, client }, { redirectUrl, state });
    const how = back === undefined ? 'paste' : 'page';
    const content = {
      server,
      url,
      subject,
      requester,
      authority,
      client,
      link,
      redirectUrl,
      state,
      verifier,
      back: how,
    } as const;
    const kept = await records.begin(
      {
        id,
        sender: requester.sender,
        capability: recordName(server),
        conversation: conversationKey(requester.conversation),
        sealed: sealSignIn(opened, id, content),
        expiresAt: now + signInMs,
      },
      now,
    );
    const signIn = openSignIn(opened, kept);
    if (signIn === undefined) throw new SignInProblem('it has ended meanwhile');
    return { signIn, isNew: kept.id === id };
  };
}

/** Makes the function that finds the open sign-in of a person at a server. One that is of no use any more ends. */
function createOpenOf({ records, key, clock }: BeginDeps) {
  return async (
    of: Readonly<{
      server: string;
      settings: McpSettings;
      requester: Requester;
      challenge?: Challenge | undefined;
    }>,
  ) => {
    const { server, settings, requester, challenge } = of;
    const opened = await key();
    const flows = (await records.flows(requester.sender)).filter(
      ({ capability, state }) => capability === recordName(server) && state !== 'ended',
    );
    const pending = flows
      .filter(({ state, expiresAt }) => state === 'pending' && expiresAt > clock.now())
      .flatMap((flow) => openSignIn(opened, flow) ?? [])
      .find(
        ({ content }) => content.url === settings.url && isEnough(content.authority.scope, challenge?.scope),
      );
    if (pending === undefined)
      for (const flow of flows) await records.change(flow.id, flow.state, { state: 'ended', sealed: '' });
    return pending;
  };
}

/** Whether an open sign-in asks for all that is needed now. */
function isEnough(asked: string | undefined, needed: string | undefined): boolean {
  const has = new Set(asked?.split(' '));
  return (needed?.split(' ') ?? []).every((scope) => has.has(scope));
}

/**
 * How the bot is known to an authorization server: as configured, by its own metadata document, or registered there once
 * for each redirect address and what is asked for, because some servers allow a client no more than it registered for.
 */
function createClientOf({ key, known, publicUrl, reachFor }: BeginDeps) {
  return async (of: {
    server: string;
    settings: McpSettings;
    authority: Authority;
    redirectUrl: string;
  }): Promise<SignInClient> => {
    const { server, settings, authority, redirectUrl } = of;
    const { clientId, clientSecret } = settings;
    if (clientId !== undefined) return { client_id: clientId, client_secret: clientSecret };
    const { metadata, issuer } = authority;
    const back = publicUrl();
    const knowsDocuments = Reflect.get(metadata, 'client_id_metadata_document_supported') === true;
    if (knowsDocuments && back?.startsWith('https:') === true) return { client_id: `${back}${clientPath}` };
    const place = createHash('sha256')
      .update(JSON.stringify([server, issuer, redirectUrl, authority.scope]))
      .digest('hex');
    const { seal, open } = await key();
    const kept = await known.get<string>(`client ${place}`);
    if (kept !== undefined) return open(kept, `client ${place}`) as SignInClient;
    if (metadata.registration_endpoint === undefined)
      throw new SignInProblem(
        `${issuer} registers no clients by itself. Register Skillet there with the redirect address ${redirectUrl}, and write client_id into [mcp.${server}]`,
      );
    const { register } = await import('./authority.ts');
    const client = await register(authority, redirectUrl, reachFor(server).fetch);
    await known.set(`client ${place}`, seal(client, `client ${place}`));
    return client;
  };
}
