import { bridgeResults, type BridgeResults, type CapabilityDefinition } from '../bridge-contract.ts';
import { describeHeard, type Probe } from './check-probe.ts';
import { skipped, unlessError, verdict, type CheckResult, type Rule } from './check-result.ts';

const begins: Rule = {
  what: 'auth_begin gives an address and a flow',
  why: 'a person can link an account by nothing else',
  fix: 'answer {auth_url, flow_type, flow_state, …} as docs/capabilities.md says; an address is http or https',
};
const proven: Rule = {
  what: 'the address of an authorization-code flow carries a state, and a PKCE challenge (S256)',
  why: 'without a state somebody could have a person link an account that is not theirs; without PKCE a code is worth something to whoever sees it',
  fix: 'put fresh state, code_challenge and code_challenge_method=S256 into auth_url, and keep the verifier with the flow',
};
const code: Rule = {
  what: 'a device flow gives a user_code',
  why: 'the person types it at auth_url',
  fix: 'answer user_code and poll_interval_seconds with flow_type device_code',
};
const foreign: Rule = {
  what: 'somebody else can not go on with the flow',
  why: "one person's account would be linked to another person",
  fix: 'keep the user (sub of the token) with the flow, and answer others with capability_auth_flow_invalid',
};
const invented: Rule = {
  what: 'an invented code links nothing',
  why: 'a code has to come from whoever gives the account',
  fix: 'exchange the code at the service, and answer with one of the capability_auth_… errors where it is refused',
};
const wrongState: Rule = {
  what: 'a callback with another state is refused',
  why: 'it belongs to another flow, perhaps of somebody else',
  fix: 'compare state with the one the flow began with; answer capability_auth_state_mismatch',
};
const pending: Rule = {
  what: 'auth_poll says that nobody has confirmed yet',
  why: 'the bot goes on asking until there is an account, or an error',
  fix: 'answer {"status":"pending","retry_after_seconds":…} until the person has confirmed',
};

/** Holds a provider to its auth flows (C6), without anybody confirming anything. Leaves a flow of nobody behind. */
export async function checkAuth(
  probe: Probe,
  { id: capability_id, allowed_chat_types }: CapabilityDefinition,
  report: (result: CheckResult) => void,
): Promise<void> {
  const identity = { chatType: allowed_chat_types[0] ?? 'private' } as const;
  const heard = await probe.call('auth_begin', { capability_id, account_hint: null }, { identity });
  if (heard.kind === 'error' && heard.code === 'capability_backend_unavailable')
    return report(skipped('the auth flows', `auth_begin could not be tried: ${heard.message}`));
  const begun = heard.kind === 'result' ? bridgeResults.auth_begin.safeParse(heard.result) : undefined;
  const [issue] = begun?.error?.issues ?? [];
  const form = issue === undefined ? describeHeard(heard) : `${issue.path.join('.')}: ${issue.message}`;
  report(verdict(begins, begun?.data === undefined ? form : undefined));
  if (begun?.data === undefined) return;
  const { flow_type, flow_state, user_code, auth_url } = begun.data;
  const polled = { capability_id, flow_state };
  const completed = {
    ...{ ...polled, authorization_code: 'invented', raw_callback_url: null },
    state: new URL(auth_url).searchParams.get('state'),
  };
  const strange = { identity: { ...identity, user: 'terminal:somebody-else' } };
  if (flow_type === 'device_code') {
    report(verdict(code, user_code === undefined ? 'there is no user_code' : undefined));
    report(verdict(foreign, unlessError(await probe.call('auth_poll', polled, strange))));
    const first = await probe.call('auth_poll', polled, { identity });
    const waits =
      first.kind === 'result' && first.result['status'] === 'pending'
        ? bridgeResults.auth_poll.safeParse(first.result).error?.message
        : describeHeard(first);
    return report(verdict(pending, waits));
  }
  report(verdict(proven, unproven(begun.data)));
  report(verdict(foreign, unlessError(await probe.call('auth_complete', completed, strange))));
  const other = { ...completed, state: 'another-state' };
  const mismatch = await probe.call('auth_complete', other, { identity });
  report(verdict(wrongState, unlessError(mismatch, 'capability_auth_state_mismatch')));
  report(verdict(invented, unlessError(await probe.call('auth_complete', completed, { identity }))));
}

function unproven({ auth_url, expected_callback_state }: BridgeResults['auth_begin']): string | undefined {
  const { searchParams } = new URL(auth_url);
  const has = (name: string): boolean => (searchParams.get(name) ?? '') !== '';
  if (!has('state')) return 'there is no state in auth_url';
  if (!has('code_challenge') || searchParams.get('code_challenge_method') !== 'S256')
    return 'there is no code_challenge with code_challenge_method=S256 in auth_url';
  return expected_callback_state === undefined || expected_callback_state === searchParams.get('state')
    ? undefined
    : 'expected_callback_state is another one than in auth_url';
}
