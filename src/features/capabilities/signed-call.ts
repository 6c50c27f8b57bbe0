import { createPrivateKey, createPublicKey, randomUUID, type KeyObject } from 'node:crypto';
import type { BridgeMethod, BridgeParams, BridgeResults } from './bridge-contract.ts';
import { callBridge, failure, type CapabilityOutcome } from './call-bridge.ts';
import type { BridgeProvider } from '../../core/bridge-provider.ts';
import type { CapabilityKey } from '../../accounts/capability-key.ts';
import { findCredential } from './capability-checks.ts';
import { chatIdOf, type SeenChatType } from '../../core/conversation.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Requester } from '../../core/tool.ts';
import type { Clock } from '../../lib/clock.ts';
import { hashJson } from '../../lib/json/json-values.ts';
import type { Log } from '../../lib/log.ts';
import { createEndWithUs } from '../../lib/processes/end-with-us.ts';
import { programEnvironment } from '../../lib/processes/run-program.ts';

const tokenIssuer = 'skillet';

const lifeSeconds = 60;

/** What stands before a raw Ed25519 key in PKCS 8. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

type Signed = Exclude<BridgeMethod, 'definitions'>;

type CallSubject = Readonly<{
  requester: Requester;
  skill?: string;
  run?: string;
}>;

/** Calls providers with tokens that say for whom (C3). */
export type SignedCalls = Readonly<{
  definitions(
    provider: BridgeProvider,
    signal: AbortSignal,
  ): Promise<CapabilityOutcome<BridgeResults['definitions']>>;
  call<Method extends Signed>(
    provider: BridgeProvider,
    method: Method,
    params: Omit<BridgeParams[Method], 'context_token'>,
    subject: CallSubject,
    signal: AbortSignal,
  ): Promise<CapabilityOutcome<BridgeResults[Method]>>;
}>;

export function createSignedCalls(options: {
  key: () => Promise<CapabilityKey>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
}): SignedCalls {
  const { key, env, clock, log } = options;
  const endWithUs = createEndWithUs(log);
  const made: { tokens?: IdentityTokens } = {};

  async function tokens(): Promise<IdentityTokens> {
    return (made.tokens ??= createIdentityTokens((await key()).signingSeed, clock));
  }

  /** Runs `work` with the tokens. If the key can't be opened, nothing is called. */
  async function withTokens<Value>(
    work: (tokens: IdentityTokens) => Promise<CapabilityOutcome<Value>>,
  ): Promise<CapabilityOutcome<Value>> {
    try {
      return await work(await tokens());
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      log.error({ err: error }, 'capabilities cannot be used');
      return failure(
        'capability_backend_unavailable',
        'capabilities are not set up on this host: its operator finds the reason in the log',
      );
    }
  }

  return {
    definitions: (provider, signal) =>
      withTokens(({ publicJwk }) =>
        callBridge(
          provider,
          'definitions',
          {},
          { environment: bridgeEnvironment(env, publicJwk), signal, endWithUs, log },
        ),
      ),
    call: (provider, method, params, { requester, skill, run }, signal) =>
      withTokens(async ({ publicJwk, issue }) => {
        const token = await issue(callIdentity({ provider, method, params }, { requester, skill, run }));
        const signed = { ...params, context_token: token } as unknown as BridgeParams[typeof method];
        const environment = bridgeEnvironment(env, publicJwk);
        const outcome = await callBridge(provider, method, signed, { environment, signal, endWithUs, log });
        // The words of a provider go to a model, so they must not have a credential in them.
        return outcome.ok || findCredential(outcome.message) === undefined
          ? outcome
          : failure(outcome.code, `the provider of ${provider.namespace} refused`);
      }),
  };
}

function callIdentity<Method extends Signed>(
  {
    provider,
    method,
    params,
  }: Readonly<{
    provider: BridgeProvider;
    method: Method;
    params: Omit<BridgeParams[Method], 'context_token'>;
  }>,
  { requester, skill, run }: CallSubject,
): CallIdentity {
  const {
    capability_id: capability,
    operation,
    account_ref: account,
    input_data: input = params,
  } = params as Readonly<{
    capability_id: string;
    operation?: unknown;
    account_ref?: unknown;
    input_data?: unknown;
  }>;
  return {
    namespace: provider.namespace,
    method,
    user: requester.sender,
    chat: chatIdOf(requester.conversation),
    chatType: requester.chatType,
    thread: requester.conversation.thread,
    skill,
    run,
    capability,
    operation: typeof operation === 'string' ? operation : undefined,
    account: typeof account === 'string' ? account : undefined,
    inputHash: hashJson(input),
  };
}

/** What a token says about a call. All of it comes from the host, nothing from the model (C3). */
export type CallIdentity = Readonly<{
  /** The provider's namespace, which is the token's audience. */
  namespace: string;
  method: Exclude<BridgeMethod, 'definitions'>;
  /** Qualified id of the person, such as `telegram:42`. */
  user: string;
  /** Qualified id of the chat, such as `telegram:-100…`. */
  chat: string;
  chatType: SeenChatType;
  thread?: string;
  /** The skill that calls. Undefined if the person's own direct message began it. */
  skill?: string;
  run?: string;
  capability: string;
  /** The operation of `invoke`; undefined for other methods. */
  operation?: string;
  account?: string;
  /** Hash of `input_data` for `invoke`, otherwise of all params except the token. */
  inputHash: string;
}>;

type IdentityTokens = Readonly<{
  /** The public key as a JSON Web Key, for `SKILLET_PUBLIC_JWK`. */
  publicJwk: string;
  /** Issues a JWT, signed by EdDSA, with an id of its own. It is valid for 60 seconds. */
  issue(identity: CallIdentity): Promise<string>;
}>;

/** Issues tokens with a key from `seed`, which has 32 bytes (C3). */
export function createIdentityTokens(seed: Buffer, clock: Clock): IdentityTokens {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' });
  const jwk = { ...publicJwkOf(key), alg: 'EdDSA', use: 'sig' };
  return {
    publicJwk: JSON.stringify(jwk),
    async issue({ namespace, user, chatType, inputHash, ...rest }) {
      // Imported only here, because most bots have no capabilities.
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

/** All environment variables of a provider's process (C3). */
export function bridgeEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  publicJwk: string,
): Readonly<Record<string, string>> {
  return { ...programEnvironment(env), SKILLET_PUBLIC_JWK: publicJwk };
}
