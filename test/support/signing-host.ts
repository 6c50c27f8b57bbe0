import { generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { hashJson } from '../../providers/notes/canonical-json.ts';

/** Claims of a token, and params of its call, as a test wants them. */
export type SignedCall = Readonly<{
  method: 'auth_begin' | 'auth_complete' | 'auth_poll' | 'invoke';
  /** All params but the token. */
  params: Readonly<Record<string, unknown>>;
  user?: string;
  /** Over what the host would write. */
  claims?: Readonly<Record<string, unknown>>;
  key?: KeyObject;
  /** Milliseconds since 1970. */
  now?: number;
}>;

/** The host's side of the bridge, as far as a provider sees it: signs calls with a key of its own. */
export function createSigningHost(namespace: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const token = async ({ method, params, user = 'telegram:42', ...more }: SignedCall): Promise<string> => {
    const issued = Math.floor((more.now ?? Date.now()) / 1_000);
    const invoke = method === 'invoke';
    const claims = {
      iss: 'skillet',
      aud: namespace,
      sub: user,
      jti: randomUUID(),
      iat: issued,
      exp: issued + 60,
      method,
      chat: 'telegram:42',
      chat_type: 'private',
      capability: params['capability_id'],
      ...(invoke ? { skill: 'notes', run: 'r1', operation: params['operation'] } : {}),
      ...(invoke && params['account_ref'] != null ? { account: params['account_ref'] } : {}),
      input_hash: hashJson(invoke ? params['input_data'] : params),
      ...more.claims,
    };
    const header = { alg: 'EdDSA', typ: 'JWT' };
    return new SignJWT(claims).setProtectedHeader(header).sign(more.key ?? privateKey);
  };
  return {
    publicJwk: JSON.stringify({ ...publicKey.export({ format: 'jwk' }), alg: 'EdDSA', use: 'sig' }),
    token,
    /** A whole request. */
    async request(call: SignedCall): Promise<Readonly<Record<string, unknown>>> {
      const params = { ...call.params, context_token: await token(call) };
      return { version: 1, id: randomUUID(), namespace, method: call.method, params };
    },
  };
}
