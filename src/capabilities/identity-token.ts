import { createPrivateKey, createPublicKey, randomUUID, type KeyObject } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import type { SeenChatType } from '../core/conversation.ts';
import type { BridgeMethod } from './bridge-contract.ts';

/** For whom and what a call is made: the host's word, of which the model writes nothing (C3). */
export type CallIdentity = Readonly<{
  /** Audience. */
  namespace: string;
  method: Exclude<BridgeMethod, 'definitions'>;
  /** Sender id: `telegram:42`. */
  user: string;
  /** Qualified chat id: `telegram:-100…`. */
  chat: string;
  chatType: SeenChatType;
  thread?: string;
  /** What began it; absent where the person's own message in the private chat did. */
  skill?: string;
  run?: string;
  capability: string;
  /** Of `invoke`. */
  operation?: string;
  /** Its `account_ref`, where the call is made with one. */
  account?: string;
  /** Of `invoke`: `hashJson` of `input_data`. Else of all params but the token. */
  inputHash: string;
}>;

export type IdentityTokens = Readonly<{
  /** The key that tokens are checked with, as the JSON of a JWK: `SKILLET_PUBLIC_JWK`. */
  publicJwk: string;
  /** A token for one call: an Ed25519-signed JWT of 60 seconds with an id of its own. */
  issue(identity: CallIdentity): Promise<string>;
}>;

const tokenIssuer = 'skillet';
const lifeSeconds = 60;
/** What stands before the 32 bytes of an Ed25519 key in PKCS 8. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Makes tokens with the key that `seed` (32 bytes) is (C3). */
export function createIdentityTokens(seed: Buffer, clock: Pick<Clock, 'now'>): IdentityTokens {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' });
  const jwk = { ...publicJwkOf(key), alg: 'EdDSA', use: 'sig' };
  return {
    publicJwk: JSON.stringify(jwk),
    async issue({ namespace, user, chatType, inputHash, ...rest }) {
      // Loaded when a first token is made: most bots have no capabilities.
      const { SignJWT } = await import('jose');
      const now = Math.floor(clock.now() / 1_000);
      return new SignJWT({ ...rest, chat_type: chatType, input_hash: inputHash })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
        .setIssuer(tokenIssuer)
        .setAudience(namespace)
        .setSubject(user)
        .setJti(randomUUID())
        .setIssuedAt(now)
        .setExpirationTime(now + lifeSeconds)
        .sign(key);
    },
  };
}

function publicJwkOf(key: KeyObject): Readonly<{ kty?: string; crv?: string; x?: string }> {
  const { kty, crv, x } = createPublicKey(key).export({ format: 'jwk' });
  return { kty, crv, x };
}
