import {
  assertSecureTokenEndpoint,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  registerClient,
  resourceUrlFromServerUrl,
  type AuthorizationServerMetadata,
} from '@modelcontextprotocol/client';
import { defined } from '../../../lib/json/json-values.ts';
import { SignInProblem, type Challenge } from './sign-in-needed.ts';
import { isSame } from './same-issuer.ts';
import type { CheckedFetch, Reach } from './checked-fetch.ts';

/** Where people sign in for a server: its authorization server, and what is asked for (X8). */
export type Authority = Readonly<{
  issuer: string;
  metadata: AuthorizationServerMetadata;
  /** The resource indicator (RFC 8707). Undefined for old servers, which don't say what they are. */
  resource?: string | undefined;
  scope?: string | undefined;
}>;

/** How the bot is known to an authorization server. */
export type SignInClient = Readonly<{ client_id: string; client_secret?: string | undefined }>;

/**
 * Finds a server's authorization server, as MCP's authorization says: by the metadata of the resource, or for old servers
 * at the server's own origin. `pinned` is the only issuer that counts, if one is known. Throws SignInProblem if anything
 * does not fit together.
 */
export async function findAuthority(
  serverUrl: string,
  of: Readonly<{ challenge: Challenge; pinned: string | undefined; scopes: readonly string[] }>,
  { fetch, isSafe }: Reach,
): Promise<Authority> {
  const described = await describeResource(serverUrl, of.challenge.metadataUrl, fetch);
  const named = described?.authorization_servers ?? [];
  const [first = new URL('/', serverUrl).href] = named;
  const issuer =
    of.pinned === undefined ? first : ([first, ...named].find((one) => isSame(one, of.pinned)) ?? first);
  if (of.pinned !== undefined && !isSame(issuer, of.pinned))
    throw new SignInProblem(
      `it names the authorization server ${issuer} now, and ${of.pinned} is the one that people signed in with. If that is right, write issuer = "${issuer}" into its section`,
    );
  // `checkMetadata` compares the issuer, with a reason that people can read.
  const metadata = await discoverAuthorizationServerMetadata(issuer, {
    fetchFn: fetch,
    skipIssuerValidation: true,
  });
  if (metadata === undefined) throw new SignInProblem(`${issuer} describes no authorization server`);
  checkMetadata(issuer, metadata, isSafe);
  const { scopes } = of;
  const asked = scopes.length > 0 ? scopes : (described?.scopes_supported ?? []);
  const wanted = new Set([...(of.challenge.scope?.split(' ') ?? asked), ...scopes]);
  // Without it, some servers issue no refresh token.
  if (metadata.scopes_supported?.includes('offline_access') === true) wanted.add('offline_access');
  return {
    issuer: metadata.issuer,
    metadata,
    resource: described?.resource,
    scope: wanted.size === 0 ? undefined : [...wanted].join(' '),
  };
}

async function describeResource(serverUrl: string, metadataUrl: string | undefined, fetch: CheckedFetch) {
  const statuses: number[] = [];
  const noting: CheckedFetch = async (...of) => {
    const answer = await fetch(...of);
    statuses.push(answer.status);
    return answer;
  };
  const options = metadataUrl === undefined ? {} : { resourceMetadataUrl: metadataUrl };
  try {
    const described = await discoverOAuthProtectedResourceMetadata(serverUrl, options, noting);
    const requestedResource = resourceUrlFromServerUrl(serverUrl);
    if (!checkResourceAllowed({ requestedResource, configuredResource: described.resource }))
      throw new SignInProblem(`it says that it is ${described.resource}, which is another resource`);
    return described;
  } catch (error) {
    // Servers from before 2025-06-18 have no such document.
    if (metadataUrl === undefined && statuses.length > 0 && statuses.every((status) => status === 404))
      return undefined;
    throw error;
  }
}

function checkMetadata(issuer: string, metadata: AuthorizationServerMetadata, isSafe: Reach['isSafe']): void {
  if (!isSame(metadata.issuer, issuer))
    throw new SignInProblem(`${issuer} describes itself as ${metadata.issuer}, which is another issuer`);
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true)
    throw new SignInProblem(`${issuer} does not say that it supports PKCE with S256`);
  const { authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint } =
    metadata as Readonly<Record<string, unknown>>;
  for (const endpoint of [authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint])
    if (typeof endpoint === 'string' && !isSafe(new URL(endpoint)))
      throw new SignInProblem(`${issuer} names an address without encryption: ${endpoint}`);
  try {
    assertSecureTokenEndpoint(metadata.token_endpoint);
  } catch (cause) {
    // The operator may have written the address. Codes and secrets are sent there all the same only with TLS.
    const problem = `${issuer} takes codes without encryption, at ${metadata.token_endpoint}. Give it TLS, or run it on this machine`;
    throw new SignInProblem(problem, { cause });
  }
}

/** Registers the bot with an authorization server that knows no other way (RFC 7591). */
export async function register(
  { issuer, metadata, scope }: Authority,
  redirectUrl: string,
  fetch: CheckedFetch,
): Promise<SignInClient> {
  const { client_id, client_secret } = await registerClient(issuer, {
    metadata,
    clientMetadata: clientMetadata(redirectUrl),
    ...defined({ scope }),
    fetchFn: fetch,
  });
  return { client_id, client_secret };
}

/** How the bot describes itself to authorization servers. */
export function clientMetadata(redirectUrl: string) {
  return {
    client_name: 'Skillet',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: redirectUrl.startsWith('https:') ? 'web' : 'native',
  };
}

/** What the server says about a sign-in to somebody without a token. Empty if it says nothing. */
export async function askForChallenge(serverUrl: string, fetch: CheckedFetch): Promise<Challenge> {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'skillet', version: '1' },
    },
  };
  const answer = await fetch(serverUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(initialize),
  });
  return answer.status === 401 ? challengeOf(answer) : {};
}

export function challengeOf(answer: Response): Challenge & Readonly<{ error?: string | undefined }> {
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(answer);
  return { metadataUrl: resourceMetadataUrl?.href, scope, error };
}
