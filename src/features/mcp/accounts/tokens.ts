import {
  OAuthError,
  OAuthErrorCode,
  exchangeAuthorization,
  refreshAuthorization,
  selectClientAuthMethod,
  startAuthorization,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { defined } from '../../../lib/json/json-values.ts';
import type { Authority, SignInClient } from './authority.ts';
import type { CheckedFetch } from './checked-fetch.ts';

/** Tokens of one account. `expiresAt` is in Unix milliseconds; undefined if the server does not say. */
export type AccountTokens = Readonly<{
  access: string;
  refresh?: string | undefined;
  expiresAt?: number | undefined;
  scope?: string | undefined;
}>;

/** Whose tokens they are, and where they are valid. */
export type Grant = Readonly<{ authority: Authority; client: SignInClient }>;

/** Begins a sign-in. `verifier` is the secret of PKCE, which stays here. */
export async function beginSignIn(
  { authority, client }: Grant,
  of: Readonly<{ redirectUrl: string; state: string }>,
): Promise<Readonly<{ link: string; verifier: string }>> {
  const { issuer, metadata, scope, resource } = authority;
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    metadata,
    clientInformation: client,
    redirectUrl: of.redirectUrl,
    state: of.state,
    ...defined({ scope, resource }),
  });
  return { link: authorizationUrl.href, verifier: codeVerifier };
}

/** Exchanges the code of a sign-in page for tokens. Throws; see `isRefused`. */
export async function redeem(
  { authority, client }: Grant,
  of: Readonly<{ code: string; verifier: string; redirectUrl: string }>,
  deps: Readonly<{ fetch: CheckedFetch; now: number }>,
): Promise<AccountTokens> {
  const tokens = await exchangeAuthorization(authority.issuer, {
    ...common({ authority, client }, deps.fetch),
    authorizationCode: of.code,
    codeVerifier: of.verifier,
    redirectUri: of.redirectUrl,
    // The answer of the page was compared with it before the code was stored (RFC 9207).
    iss: authority.issuer,
  });
  return read(tokens, deps.now);
}

/** Gets new tokens for the refresh token. Throws; see `isRefused`. */
export async function renew(
  grant: Grant,
  refresh: string,
  deps: Readonly<{ fetch: CheckedFetch; now: number }>,
): Promise<AccountTokens> {
  const tokens = await refreshAuthorization(grant.authority.issuer, {
    ...common(grant, deps.fetch),
    refreshToken: refresh,
  });
  return read(tokens, deps.now);
}

/** Ends tokens at a server that supports it (RFC 7009). False if it does not. */
export async function revoke(
  { authority, client }: Grant,
  tokens: AccountTokens,
  fetch: CheckedFetch,
): Promise<boolean> {
  const { revocation_endpoint: endpoint, revocation_endpoint_auth_methods_supported: methods = [] } =
    authority.metadata as Readonly<{
      revocation_endpoint?: string;
      revocation_endpoint_auth_methods_supported?: string[];
    }>;
  if (endpoint === undefined) return false;
  const how = selectClientAuthMethod(client, methods);
  const { client_id: id, client_secret: secret = '' } = client;
  const body = new URLSearchParams({ token: tokens.refresh ?? tokens.access });
  body.set('token_type_hint', tokens.refresh === undefined ? 'access_token' : 'refresh_token');
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  if (how === 'client_secret_basic')
    headers.set(
      'authorization',
      `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
    );
  else body.set('client_id', id);
  if (how === 'client_secret_post') body.set('client_secret', secret);
  return (await fetch(endpoint, { method: 'POST', headers, body })).ok;
}

/** Refusals that may pass by themselves. */
const passing: readonly string[] = [
  OAuthErrorCode.ServerError,
  OAuthErrorCode.TemporarilyUnavailable,
  OAuthErrorCode.TooManyRequests,
];

/** Whether the authorization server refused for good, so that only a new sign-in helps. */
export function isRefused(error: unknown): boolean {
  return error instanceof OAuthError && !passing.includes(error.code);
}

function common({ authority, client }: Grant, fetch: CheckedFetch) {
  const { metadata, resource } = authority;
  return {
    metadata,
    clientInformation: client,
    ...defined({ resource }),
    fetchFn: fetch,
  };
}

function read(
  { access_token, token_type, refresh_token, expires_in, scope }: OAuthTokens,
  now: number,
): AccountTokens {
  if (token_type.toLowerCase() !== 'bearer')
    throw new Error(`the authorization server issued a ${token_type} token`);
  return {
    access: access_token,
    refresh: refresh_token,
    expiresAt: expires_in === undefined ? undefined : now + expires_in * 1_000,
    scope,
  };
}
