import { z } from 'zod';
import type { WebSearchSettings } from '../../config/tool-sections.ts';
import type { Clock } from '../../lib/clock.ts';
import { parseJson } from '../../lib/json/json-values.ts';
import type { WayOut } from '../../lib/net/connect-checked.ts';
import { httpRequest } from '../../lib/net/http-request.ts';

export type SearchResult = Readonly<{ title: string; url: string; snippet: string }>;

type SearchOutcome =
  | Readonly<{ ok: true; results: readonly SearchResult[] }>
  /** `message` says what is wrong and who can fix it, without the key. */
  | Readonly<{ ok: false; message: string }>;

export type Search = (
  query: string,
  settings: WebSearchSettings,
  signal: AbortSignal,
) => Promise<SearchOutcome>;

/** `data`: undefined if the body is not JSON. */
type ServiceAnswer = Readonly<{ status: number; header(name: string): string; data: unknown }>;

const timeoutMs = 15_000;
const bytesLimit = 4_000_000;

const braveAnswer = z.object({
  web: z
    .object({
      results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().default('') })),
    })
    .optional(),
});
const braveRefusal = z.object({ error: z.object({ code: z.string() }) });

/** The most that Brave accepts, by its documentation. */
const mostWords = 50;
const mostCharacters = 400;
const tries = 3;
const longestWaitSeconds = 2;

/** Brave's Web Search API. `baseUrl` is that of a gateway in front of it. */
export function braveSearch(options: {
  apiKey: string;
  baseUrl?: string;
  clock: Clock;
  proxy?: WayOut['proxy'];
}): Search {
  const { apiKey, baseUrl = 'https://api.search.brave.com', clock, proxy } = options;
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
      const answer = await askService(url, { headers, proxy }, signal);
      if (typeof answer === 'string') return { ok: false, message: answer };
      const waitSeconds = answer.status === 429 ? waitOf(answer) : undefined;
      if (waitSeconds === undefined || waitSeconds > longestWaitSeconds || left === 0)
        return braveOutcome(answer);
      await clock.sleep(waitSeconds * 1_000, signal);
    }
  };
}

function braveOutcome({ status, data }: ServiceAnswer): Awaited<ReturnType<Search>> {
  const good = status === 200 ? braveAnswer.safeParse(data).data : undefined;
  if (good !== undefined) {
    const found = good.web?.results ?? [];
    return {
      ok: true,
      results: found.map(({ title, url, description }) => ({ title, url, snippet: description })),
    };
  }
  const code = braveRefusal.safeParse(data).data?.error.code ?? '';
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

/** How many seconds to wait. Brave's headers have one number for each window, such as `1, 1419704`. */
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

const searxngAnswer = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
  unresponsive_engines: z.array(z.array(z.string())).catch([]),
});

const safeLevels = ['off', 'moderate', 'strict'];

export function searxngSearch({
  baseUrl,
  proxy,
}: Readonly<{ baseUrl: string; proxy?: WayOut['proxy'] }>): Search {
  return async (query, { results: most, language, country, safesearch }, signal) => {
    const url = new URL(`${baseUrl.replace(/\/+$/, '')}/search`);
    url.searchParams.set('q', query.trim());
    url.searchParams.set('format', 'json');
    url.searchParams.set('safesearch', String(safeLevels.indexOf(safesearch)));
    // SearXNG accepts a country only together with a language.
    if (language !== undefined)
      url.searchParams.set('language', country === undefined ? language : `${language}-${country}`);
    const answer = await askService(url, { proxy }, signal);
    if (typeof answer === 'string') return { ok: false, message: answer };
    const good = answer.status === 200 ? searxngAnswer.safeParse(answer.data).data : undefined;
    if (good === undefined) return { ok: false, message: whyNoResults(answer.status, url) };
    if (good.results.length === 0 && good.unresponsive_engines.length > 0) {
      return { ok: false, message: `none of the engines behind ${url.host} answered` };
    }
    const results = good.results.map(({ title, url, content }) => ({ title, url, snippet: content ?? '' }));
    return { ok: true, results: results.slice(0, most) };
  };
}

function whyNoResults(status: number, { host }: URL): string {
  if (status === 403) {
    return `${host} refuses to answer in JSON: its operator has to add json to search.formats in settings.yml`;
  }
  if (status === 429) return `${host} takes no more searches for now: its limiter refused this one`;
  return `${host} answered with status ${status} and no results: is it SearXNG?`;
}

/**
 * Fetches JSON from the operator's search service. It may be local, so every address is allowed and a proxy may look up
 * its name; redirects are refused. Returns a message if it fails.
 */
async function askService(
  url: URL,
  { headers, proxy }: Readonly<{ headers?: Readonly<Record<string, string>>; proxy?: WayOut['proxy'] }>,
  signal: AbortSignal,
): Promise<ServiceAnswer | string> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const answer = await httpRequest(url, {
    headers: { accept: 'application/json', ...headers },
    maxBytes: bytesLimit,
    connect: { mayReach: () => true, proxy, proxyResolves: true },
    signal: AbortSignal.any([signal, timeout]),
  });
  signal.throwIfAborted();
  if (!answer.ok)
    return timeout.aborted ? `${url.host} did not answer within ${timeoutMs / 1_000} s` : answer.message;
  return {
    status: answer.status,
    header: (name) => String(answer.headers[name] ?? ''),
    data: parseJson(answer.body.toString()),
  };
}
