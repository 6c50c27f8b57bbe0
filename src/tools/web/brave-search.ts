import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import { askService, type Search, type ServiceAnswer } from './ask-service.ts';

const answered = z.object({
  web: z
    .object({
      results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().default('') })),
    })
    .optional(),
});
const refused = z.object({ error: z.object({ code: z.string() }) });

/** The service takes no more (its documentation). */
const mostWords = 50;
const mostCharacters = 400;
/** Waits for the next second of a plan with a limit a second, no longer. */
const tries = 3;
const longestWaitSeconds = 2;

/** Brave's Web Search API. `baseUrl`: of a gateway that stands for it. */
export function braveSearch(options: {
  apiKey: string;
  baseUrl?: string;
  clock: Pick<Clock, 'sleep'>;
}): Search {
  const { apiKey, baseUrl = 'https://api.search.brave.com', clock } = options;
  return async (query, { results, language, country, safesearch }, signal) => {
    const url = new URL(`${baseUrl.replace(/\/+$/, '')}/res/v1/web/search`);
    url.searchParams.set('q', shorten(query));
    url.searchParams.set('count', String(results));
    url.searchParams.set('safesearch', safesearch);
    if (language !== undefined) url.searchParams.set('search_lang', language);
    if (country !== undefined) url.searchParams.set('country', country);
    url.searchParams.set('text_decorations', 'false');
    const headers = {
      'x-subscription-token': apiKey,
      'accept-encoding': 'gzip',
      'cache-control': 'no-cache',
    };
    for (let left = tries - 1; ; left -= 1) {
      const answer = await askService(url, headers, signal);
      if (typeof answer === 'string') return { ok: false, message: answer };
      const waitSeconds = answer.status === 429 ? waitOf(answer) : undefined;
      if (waitSeconds === undefined || waitSeconds > longestWaitSeconds || left === 0)
        return outcomeOf(answer);
      await clock.sleep(waitSeconds * 1_000, signal);
    }
  };
}

function outcomeOf({ status, data }: ServiceAnswer): Awaited<ReturnType<Search>> {
  const good = status === 200 ? answered.safeParse(data).data : undefined;
  if (good !== undefined) {
    const found = good.web?.results ?? [];
    return {
      ok: true,
      results: found.map(({ title, url, description }) => ({ title, url, snippet: description })),
    };
  }
  const code = refused.safeParse(data).data?.error.code ?? '';
  if (status === 401 || status === 403 || code.startsWith('SUBSCRIPTION_')) {
    return {
      ok: false,
      message: 'Brave refuses the key: the operator has to fix [tools.web_search] api_key',
    };
  }
  if (status === 429) {
    return { ok: false, message: 'Brave takes no more searches for now: the limit of its plan is reached' };
  }
  if (status === 422 && code === 'VALIDATION') {
    return {
      ok: false,
      message: 'Brave does not take this search: it may not know the language or country that is set',
    };
  }
  const said = /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : '';
  return { ok: false, message: `Brave answered with status ${status}${said} and no results` };
}

/** Seconds until a used-up window begins again: headers like `1, 1419704`, one number a window. */
function waitOf({ header }: ServiceAnswer): number {
  const numbers = (name: string): readonly number[] => header(name).split(',').map(Number);
  const remaining = numbers('x-ratelimit-remaining');
  const waits = numbers('x-ratelimit-reset').filter((_, index) => !((remaining[index] ?? 0) > 0));
  const wait = Math.max(1, ...waits);
  return Number.isFinite(wait) ? wait : 1;
}

function shorten(query: string): string {
  return query.trim().split(/\s+/).slice(0, mostWords).join(' ').slice(0, mostCharacters);
}
