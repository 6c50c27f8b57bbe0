import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { TestContext } from 'node:test';

/** A request that reached the authorization server. */
export type SeenRequest = Readonly<{ method: string; path: string; body: string }>;

/** A real authorization server (`oidc-provider`) on loopback: strict about redirects, PKCE, resources and rotation. */
export type SignInServer = Readonly<{
  issuer: string;
  seen: readonly SeenRequest[];
  /** Seconds that access tokens of the next grants live. */
  tokens: { seconds: number };
  /** Changes what it answers, for tests of attacks and of servers that are away. Undefined: nothing. */
  tamper: { before?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined };
  /** A browser in which this user is signed in: opens a link, agrees or refuses, and returns where it was sent. */
  browse(link: string, user: string, how?: 'refuse'): Promise<URL>;
}>;

export const scopes = ['tools', 'admin', 'offline_access'];

export async function startSignInServer(t: TestContext, port = 0): Promise<SignInServer> {
  const seen: SeenRequest[] = [];
  const tokens = { seconds: 3_600 };
  const tamper: SignInServer['tamper'] = {};
  const http = createServer((request, response) => {
    void handle(request, response);
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  t.after(() => close(http));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, configuration(tokens));
  const serve = provider.callback();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    if (path.startsWith('/interaction/')) return interact(provider, request, response);
    const note = { method: request.method ?? '', path, body: '' };
    seen.push(note);
    request.on('data', (chunk: Buffer) => Object.assign(note, { body: note.body + chunk.toString() }));
    request.pause();
    if (tamper.before?.(request, response) !== true) serve(request, response);
  }

  return {
    issuer,
    seen,
    tokens,
    tamper,
    async browse(link, user, how) {
      const cookies = new Map<string, string>();
      let at = new URL(link);
      for (let hops = 0; hops < 12; hops += 1) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const answer = await fetch(at, {
          redirect: 'manual',
          headers: { cookie, 'x-user': user, 'x-answer': how ?? 'agree' },
        });
        for (const set of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
          cookies.set(name, value);
        }
        const location = answer.headers.get('location');
        if (location === null)
          throw new Error(`the browser stands at ${at.pathname}: ${await answer.text()}`);
        at = new URL(location, at);
        if (at.origin !== issuer) return at;
      }
      throw new Error('the browser goes round in circles');
    },
  };
}

function configuration(tokens: Readonly<{ seconds: number }>): object {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'one' }] },
    cookies: { keys: ['a key for cookies'] },
    scopes,
    ttl: {
      AccessToken: () => tokens.seconds,
      Grant: 86_400,
      Interaction: 600,
      Session: 600,
      RefreshToken: 86_400,
    },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    findAccount: async (_: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_: unknown, resource: string) => ({
          scope: scopes.join(' '),
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: tokens.seconds,
        }),
      },
    },
  };
}

/** Signs the user of the browser in and asks whether the client may, without pages. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  const user = String(request.headers['x-user']);
  if (request.headers['x-answer'] === 'refuse')
    return provider.interactionFinished(
      request,
      response,
      { error: 'access_denied' },
      { mergeWithLastSubmission: false },
    );
  if (prompt.name === 'login')
    return provider.interactionFinished(
      request,
      response,
      { login: { accountId: user } },
      { mergeWithLastSubmission: false },
    );
  const { client_id: clientId = '', scope = '', resource } = params;
  const grant = new provider.Grant({ accountId: session?.accountId ?? user, clientId });
  grant.addOIDCScope(scope);
  if (resource !== undefined) grant.addResourceScope(resource, scope);
  const grantId = await grant.save();
  return provider.interactionFinished(
    request,
    response,
    { consent: { grantId } },
    { mergeWithLastSubmission: true },
  );
}

async function close(http: Server): Promise<void> {
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
}
