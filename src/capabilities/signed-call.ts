import { chatIdOf } from '../core/conversation.ts';
import type { Clock } from '../lib/clock.ts';
import { OperatorError } from '../core/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Requester } from '../core/tool.ts';
import { createEndWithUs } from '../lib/processes/end-with-us.ts';
import type { BridgeMethod, BridgeParams, BridgeResults } from './bridge-contract.ts';
import { bridgeEnvironment } from './bridge-environment.ts';
import { callBridge, failure, type BridgeProvider, type Outcome } from './call-bridge.ts';
import { hashJson } from '../lib/json/canonical-json.ts';
import type { CapabilityKey } from './capability-key.ts';
import { findCredential } from './credential-like.ts';
import { createIdentityTokens, type IdentityTokens } from './identity-token.ts';

type Signed = Exclude<BridgeMethod, 'definitions'>;

/** For whom a provider is called. */
export type CallSubject = Readonly<{
  requester: Requester;
  skill?: string;
  run?: string;
}>;

/** Calls providers with a token of the host's own making (C3). */
export type SignedCalls = Readonly<{
  definitions(provider: BridgeProvider, signal: AbortSignal): Promise<Outcome<BridgeResults['definitions']>>;
  call<Method extends Signed>(
    provider: BridgeProvider,
    method: Method,
    params: Omit<BridgeParams[Method], 'context_token'>,
    subject: CallSubject,
    signal: AbortSignal,
  ): Promise<Outcome<BridgeResults[Method]>>;
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

  /** Without its key the host can vouch for nobody: nothing is called. */
  async function withTokens<Value>(
    work: (tokens: IdentityTokens) => Promise<Outcome<Value>>,
  ): Promise<Outcome<Value>> {
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
        const { thread } = requester.conversation;
        const operation: unknown = 'operation' in params ? params.operation : undefined;
        const account = 'account_ref' in params ? params.account_ref : undefined;
        const token = await issue({
          namespace: provider.namespace,
          method,
          user: requester.sender,
          chat: chatIdOf(requester.conversation),
          chatType: requester.chatType,
          ...(thread === undefined ? {} : { thread }),
          ...(skill === undefined ? {} : { skill }),
          ...(run === undefined ? {} : { run }),
          capability: params.capability_id,
          ...(typeof operation === 'string' ? { operation } : {}),
          ...(typeof account === 'string' ? { account } : {}),
          inputHash: hashJson('input_data' in params ? params.input_data : params),
        });
        const signed = { ...params, context_token: token } as unknown as BridgeParams[typeof method];
        const environment = bridgeEnvironment(env, publicJwk);
        const outcome = await callBridge(provider, method, signed, { environment, signal, endWithUs, log });
        // A provider's sentence goes to a model: what looks like a credential in it does not.
        return outcome.ok || findCredential(outcome.message) === undefined
          ? outcome
          : failure(outcome.code, `the provider of ${provider.namespace} refused`);
      }),
  };
}
