import type { ServerFetch } from '../connect-once.ts';
import type { TokenNow } from './fresh-token.ts';
import { SignInNeeded } from './sign-in-needed.ts';

/**
 * Adds the token of an account to each request (X8). A request that the server refused was not carried out, so it is sent
 * once more with a new token. Throws SignInNeeded if the account is gone, refused, or lacks a permission.
 */
export function signedFetch(
  token: (refused?: string) => Promise<TokenNow>,
  /** Called if the server refuses a token that was issued just now. */
  refused: () => Promise<void>,
): (fetch: ServerFetch) => ServerFetch {
  return (fetch) => async (url, init) => {
    const send = async (bearer: string): Promise<Response> => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${bearer}`);
      return fetch(url, { ...init, headers });
    };
    const first = await usable(token());
    let answer = await send(first);
    if (answer.status === 401) {
      await answer.body?.cancel();
      answer = await send(await usable(token(first)));
      if (answer.status === 401) await refused();
    }
    if (answer.status !== 401 && answer.status !== 403) return answer;
    const { challengeOf } = await import('./authority.ts');
    const { error, ...challenge } = challengeOf(answer);
    if (answer.status === 403 && error !== 'insufficient_scope') return answer;
    await answer.body?.cancel();
    throw new SignInNeeded(challenge);
  };
}

async function usable(asked: Promise<TokenNow>): Promise<string> {
  const now = await asked;
  if (now.kind === 'token') return now.token;
  if (now.kind === 'away') throw new Error(now.why);
  throw new SignInNeeded({});
}
