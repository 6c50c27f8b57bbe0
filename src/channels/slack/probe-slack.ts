import { z } from 'zod';
import { missedScopes, neededScopes, type SlackFeatures } from './identify.ts';

export type SlackProbe =
  | Readonly<{
      ok: true;
      team: string;
      user: string;
      /** Scopes that the token lacks, with what fails without each. */
      missing: readonly Readonly<{ scope: string; why: string }>[];
      /** The time by Slack's clock; undefined if Slack does not tell. */
      at: number | undefined;
    }>
  | Readonly<{ ok: false; token: 'bot_token' | 'app_token'; refused: boolean; message: string }>;

type Tokens = Readonly<{
  botToken: string;
  /** The token for Socket Mode; undefined for http mode. */
  appToken?: string;
  apiUrl: string;
  features: SlackFeatures;
}>;

const answer = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  team: z.string().optional(),
  user: z.string().optional(),
});

const patienceMs = 10_000;

/** Asks Slack about both tokens. It sends two plain requests, because the SDK would take longer to load. */
export async function probeSlack(tokens: Tokens): Promise<SlackProbe> {
  const { botToken, appToken, apiUrl, features } = tokens;
  const bot = await ask(apiUrl, 'auth.test', botToken);
  if ('failed' in bot) return { ok: false, token: 'bot_token', ...bot.failed };
  if (appToken !== undefined) {
    const app = await ask(apiUrl, 'apps.connections.open', appToken);
    if ('failed' in app) return { ok: false, token: 'app_token', ...app.failed };
  }
  const { body, headers } = bot;
  const scopes = headers.get('x-oauth-scopes')?.split(/\s*,\s*/);
  const date = Date.parse(headers.get('date') ?? '');
  return {
    ok: true,
    team: body.team ?? '',
    user: body.user ?? '',
    missing: (scopes === undefined ? [] : missedScopes(scopes, features)).map((scope) => ({
      scope,
      why: neededScopes.get(scope) ?? '',
    })),
    at: Number.isNaN(date) ? undefined : date,
  };
}

type Asked =
  | Readonly<{ body: z.output<typeof answer>; headers: Headers }>
  | Readonly<{ failed: Readonly<{ refused: boolean; message: string }> }>;

async function ask(apiUrl: string, method: string, token: string): Promise<Asked> {
  const failed = (refused: boolean, why: string): Asked => ({
    failed: { refused, message: `Slack ${refused ? 'refused' : 'did not answer'} ${method}: ${why}` },
  });
  try {
    const response = await fetch(new URL(method, apiUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' },
      signal: AbortSignal.timeout(patienceMs),
    });
    if (!response.ok) return failed(false, `HTTP ${response.status}`);
    const body = answer.parse(await response.json());
    return body.ok ? { body, headers: response.headers } : failed(true, body.error ?? 'no reason');
  } catch (error) {
    // What `fetch` says about the cause contains neither addresses nor tokens.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    if (!(cause instanceof Error)) return failed(false, 'no answer');
    if (cause.name === 'TimeoutError') return failed(false, `nothing within ${patienceMs / 1_000} s`);
    return failed(false, 'code' in cause ? String(cause.code) : cause.name);
  }
}
