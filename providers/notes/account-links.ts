import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Caller } from './verify-token.ts';
import type { Storage } from './open-storage.ts';
import type { Params } from './parse-request.ts';
import { Refusal, type RefusalCode } from './refusal.ts';

export type LinkOptions = Readonly<{
  storage: Storage;
  /** Where the page is, without a slash at its end. */
  page: string;
  /** Which flow links begin with: the operator's choice. */
  flow: 'code' | 'device';
  now(): number;
}>;

const flowMs = 10 * 60_000;
const notebookForm = /^[a-z0-9][a-z0-9-]{0,39}$/;

const begun = z.object({
  request: z.string(),
  device_code: z.string().optional(),
  user_code: z.string().optional(),
  interval: z.number().optional(),
});
const granted = z.object({ user: z.string(), notebook: z.string().regex(notebookForm) });
const failed = z.object({ error: z.string() });

/**
 * Links a person's notebook by what the page says: the authorization-code flow with state and PKCE, or the device flow.
 * What a flow hides (verifier, device code) stays in the provider's storage; the host gets a reference to it.
 */
export function createAccountLinks({ storage, page, flow, now }: LinkOptions) {
  return {
    async begin(caller: Caller, { account_hint }: Params['auth_begin']): Promise<unknown> {
      const notebook = account_hint ?? 'notebook';
      if (!notebookForm.test(notebook))
        throw new Refusal(
          'capability_invalid_input',
          'a notebook is called by small letters, digits and hyphens',
        );
      const [verifier, callbackState, ref] = [secret(), secret(), secret()];
      const code_challenge = createHash('sha256').update(verifier).digest('base64url');
      const asked = { user: caller.user, notebook };
      const answer = await ask(
        flow === 'code' ? 'authorizations' : 'device-authorizations',
        flow === 'code'
          ? { ...asked, state: callbackState, code_challenge, code_challenge_method: 'S256' }
          : asked,
        begun,
      );
      const expires = now() + flowMs;
      storage.run('DELETE FROM flows WHERE expires < ?', now());
      storage.run(
        'INSERT INTO flows (state, user, capability, notebook, verifier, callback_state, device_code, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        ...[ref, caller.user, caller.capability, notebook],
        ...(flow === 'code' ? [verifier, callbackState, null] : [null, null, answer.device_code ?? '']),
        expires,
      );
      const shared = { flow_state: { flow: ref }, expires_at: new Date(expires).toISOString() };
      return flow === 'code'
        ? {
            ...shared,
            flow_type: 'authorization_code',
            auth_url: addressOf(page, { request: answer.request, state: callbackState, code_challenge }),
            expected_callback_state: callbackState,
          }
        : {
            ...shared,
            flow_type: 'device_code',
            auth_url: `${page}/device`,
            user_code: answer.user_code,
            poll_interval_seconds: answer.interval,
          };
    },

    async complete(caller: Caller, params: Params['auth_complete']): Promise<unknown> {
      const kept = flowOf(caller, params.flow_state);
      const { verifier, callback_state } = kept;
      if (typeof verifier !== 'string')
        throw new Refusal('capability_auth_flow_invalid', 'this flow is completed by auth_poll');
      const pasted = fromCallback(params.raw_callback_url);
      const state = params.state ?? pasted.state;
      // Where the person pasted the code alone there is no state to compare: PKCE and the flow's owner hold it then.
      if (state !== undefined && state !== callback_state)
        throw new Refusal('capability_auth_state_mismatch', 'the state is not the one this flow began with');
      const code = params.authorization_code ?? pasted.code;
      if (code === undefined || code === '')
        throw new Refusal('capability_auth_code_missing', 'there is no code to complete the flow with');
      return link(caller, kept.state, await ask('token', { code, code_verifier: verifier }, granted));
    },

    async poll(caller: Caller, params: Params['auth_poll']): Promise<unknown> {
      const kept = flowOf(caller, params.flow_state);
      if (typeof kept.device_code !== 'string')
        throw new Refusal('capability_auth_flow_invalid', 'this flow is completed by auth_complete');
      const answer = await ask('token', { device_code: kept.device_code }, z.union([granted, failed]), [
        'authorization_pending',
        'slow_down',
      ]);
      if ('error' in answer)
        return { status: 'pending', retry_after_seconds: answer.error === 'slow_down' ? 10 : 5 };
      return link(caller, kept.state, answer);
    },
  };

  function flowOf({ user, capability }: Caller, state: Params['auth_poll']['flow_state']): KeptFlow {
    const ref = typeof state['flow'] === 'string' ? state['flow'] : '';
    const row = storage.get('SELECT * FROM flows WHERE state = ?', ref);
    // Somebody else's flow is answered like one that never was.
    if (row === undefined || row['user'] !== user || row['capability'] !== capability)
      throw new Refusal('capability_auth_flow_invalid', 'there is no such flow of this person');
    if (Number(row['expires']) <= now())
      throw new Refusal('capability_auth_flow_expired', 'the flow is older than 10 minutes: begin again');
    return row as KeptFlow;
  }

  function link(caller: Caller, state: string, grant: z.output<typeof granted>): unknown {
    if (grant.user !== caller.user)
      throw new Refusal('capability_access_denied', 'the page confirmed the notebook of somebody else');
    const { notebook } = grant;
    storage.once(() => {
      storage.run('DELETE FROM flows WHERE state = ?', state);
      storage.run(
        'INSERT INTO accounts (user, notebook, linked) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET linked = excluded.linked',
        ...[caller.user, notebook, now()],
      );
    });
    return {
      account_ref: notebook,
      credential_material: { notebook },
      metadata: { name: `the notebook “${notebook}” of ${caller.user}` },
    };
  }

  /** Asks the page; `expected` are errors that are answers, not faults. */
  async function ask<Answer extends z.ZodType>(
    what: string,
    body: Readonly<Record<string, string>>,
    schema: Answer,
    expected: readonly string[] = [],
  ): Promise<z.output<Answer>> {
    const response = await fetch(`${page}/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    }).catch((cause: unknown) => {
      throw new Refusal('capability_backend_unavailable', `nothing answers at ${page}: start the page`, {
        cause,
      });
    });
    const answer: unknown = await response.json().catch(() => undefined);
    const wrong = failed.safeParse(answer);
    if (wrong.success && !expected.includes(wrong.data.error)) throw refusalOf(wrong.data.error);
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new Refusal(
      'capability_backend_unavailable',
      `what answers at ${page} is not the page of the notebook`,
    );
  }
}

/** Where the person goes. The page compares all of it with what it was told before. */
function addressOf(page: string, query: Readonly<Record<string, string>>): string {
  const all = { response_type: 'code', ...query, code_challenge_method: 'S256' };
  return `${page}/authorize?${new URLSearchParams(all).toString()}`;
}

type KeptFlow = Readonly<{
  state: string;
  verifier: string | null;
  callback_state: string | null;
  device_code: string | null;
}>;

function secret(): string {
  return randomBytes(32).toString('base64url');
}

function fromCallback(url: string | null | undefined): Readonly<{ code?: string; state?: string }> {
  if (url == null) return {};
  if (!URL.canParse(url))
    throw new Refusal('capability_auth_callback_invalid', 'what was pasted is not an address');
  const { searchParams } = new URL(url);
  if (searchParams.get('error') === 'access_denied')
    throw new Refusal('capability_auth_flow_denied', 'the person did not agree on the page');
  const [code, state] = [searchParams.get('code'), searchParams.get('state')];
  return { ...(code === null ? {} : { code }), ...(state === null ? {} : { state }) };
}

/** The page's errors in the words of the bridge. */
function refusalOf(error: string): Refusal {
  const code: RefusalCode =
    error === 'access_denied'
      ? 'capability_auth_flow_denied'
      : error === 'expired_token'
        ? 'capability_auth_flow_expired'
        : 'capability_auth_flow_invalid';
  return new Refusal(code, `the page says ${error}`);
}
