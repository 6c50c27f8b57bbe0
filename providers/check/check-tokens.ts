import type { CapabilityDefinition } from '../../src/features/capabilities/bridge-contract.ts';
import {
  describeHeard,
  skipped,
  unlessError,
  verdict,
  sampleInput,
  type OddToken,
  type Probe,
  type CheckResult,
  type Rule,
} from './check-probe.ts';

/** One call that changes nothing, to try tokens on. */
export type Harmless = Readonly<{
  method: 'invoke' | 'auth_begin';
  params: Readonly<Record<string, unknown>>;
  chatType: CapabilityDefinition['allowed_chat_types'][number];
}>;

/** An account that nobody has. */
export const noAccount = 'no-such-account-of-the-check';

/** The most harmless call that these definitions have: to read, else to begin an auth flow. */
export function harmlessCall(definitions: readonly CapabilityDefinition[]): Harmless | undefined {
  for (const { id: capability_id, operations, allowed_chat_types } of definitions) {
    for (const [operation, { mutating, requires_auth, input_schema }] of Object.entries(operations)) {
      const input_data = sampleInput(input_schema);
      if (mutating || input_data === undefined) continue;
      const account_ref = requires_auth ? noAccount : null;
      const params = { capability_id, operation, input_data, account_ref, idempotency_key: null };
      return { method: 'invoke', params, chatType: allowed_chat_types[0] ?? 'private' };
    }
  }
  const [first] = definitions;
  if (first === undefined) return undefined;
  const params = { capability_id: first.id, account_hint: null };
  return { method: 'auth_begin', params, chatType: first.allowed_chat_types[0] ?? 'private' };
}

const why = 'anyone who can start the provider could otherwise act as any person of the bot';
const rule = (what: string, fix: string): Rule => ({
  what: `a token ${what} is refused with capability_access_denied`,
  why,
  fix,
});

const signature =
  'check the Ed25519 signature with the key in SKILLET_PUBLIC_JWK before reading anything of it';

/** Holds a provider to what it has to refuse (C3): each token is wrong in one way. */
export async function checkTokens(
  probe: Probe,
  { method, params, chatType }: Harmless,
  report: (result: CheckResult) => void,
): Promise<void> {
  const other = { ...(params['input_data'] as object), changed: 'after it was signed' };
  const odd: readonly (readonly [string, string, OddToken])[] = [
    ['that is empty', signature, { alter: () => '' }],
    ['that is no token', signature, { alter: () => 'not.a.token' }],
    ['without a signature', 'take no algorithm but EdDSA, whatever the token says', { alter: unsigned }],
    ['whose person was changed', signature, { alter: changed }],
    ['signed with another key', signature, { signer: 'stranger' }],
    ['for another provider', 'compare aud with its own namespace', { identity: { namespace: 'another' } }],
    [
      'that is two minutes old',
      'compare exp with the clock; a few seconds may be allowed',
      { signer: 'past' },
    ],
    [
      'that is issued two minutes from now',
      'compare iat with the clock; a few seconds may be allowed',
      { signer: 'future' },
    ],
    ['for another method', 'compare method', { identity: { method: 'auth_complete' } }],
    ['for another capability', 'compare capability', { identity: { capability: 'another.one' } }],
    ...(method === 'invoke'
      ? ([
          ['for another operation', 'compare operation', { identity: { operation: 'another' } }],
          ['for another account', 'compare account with account_ref', { identity: { account: 'another' } }],
        ] as const)
      : []),
    [
      'for another input',
      'compare input_hash with the hash of the input',
      { identity: { inputHash: '0'.repeat(64) } },
    ],
  ];
  const good = await probe.signed(method, params, { identity: { chatType } });
  const accepted = await probe.send(good);
  const denied =
    accepted.kind === 'fault' || (accepted.kind === 'error' && accepted.code === 'capability_access_denied');
  report(
    verdict(
      {
        what: 'a good token is accepted',
        why: 'otherwise no call ever succeeds',
        fix: 'check it as docs/capabilities.md says; the hash is of the canonical JSON of the input',
      },
      denied ? describeHeard(accepted) : undefined,
    ),
  );
  const fixOnce =
    'keep the jti of each token until it has expired, where every process of the provider sees it, before doing anything else';
  const replay = rule('that was used before', fixOnce);
  if (denied) report(skipped(replay.what, 'no token was accepted'));
  else report(verdict(replay, unlessError(await probe.send(good), 'capability_access_denied')));
  for (const [what, fix, token] of odd) {
    const identity = { chatType, ...token.identity };
    const heard = await probe.call(method, params, { ...token, identity });
    report(verdict(rule(what, fix), unlessError(heard, 'capability_access_denied')));
  }
  if (method === 'invoke') {
    const swapped = await swapInput(probe, { method, params, chatType }, other);
    const what = rule('whose input was changed afterwards', 'compute input_hash from the input that came');
    report(verdict(what, unlessError(await probe.send(swapped), 'capability_access_denied')));
  }
}

async function swapInput(
  probe: Probe,
  { method, params, chatType }: Harmless,
  input_data: object,
): Promise<string> {
  const signed = JSON.parse(await probe.signed(method, params, { identity: { chatType } })) as {
    params: object;
  };
  return JSON.stringify({ ...signed, params: { ...signed.params, input_data } });
}

function unsigned(token: string): string {
  const [, body = ''] = token.split('.');
  return `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${body}.`;
}

function changed(token: string): string {
  const [head = '', body = '', end = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
  const other = Buffer.from(JSON.stringify({ ...claims, sub: 'terminal:somebody-else' })).toString(
    'base64url',
  );
  return [head, other, end].join('.');
}
