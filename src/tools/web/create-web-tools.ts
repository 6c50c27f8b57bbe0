import { z } from 'zod';
import type { Config } from '../../config/complete-config.ts';
import type { Tool } from '../../core/tool.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { webFetchTool } from '../built-in/web-fetch.ts';
import { webSearchTool } from '../built-in/web-search.ts';
import { askService, type Search } from './ask-service.ts';
import { braveSearch } from './brave-search.ts';

const answered = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
  unresponsive_engines: z.array(z.array(z.string())).catch([]),
});

const safeLevels = ['off', 'moderate', 'strict'];

type SearchSettings = NonNullable<Config['tools']['web_search']>;

/** The tools that reach the internet, as config has them now: `web_search` only where a provider is set (T2). */
export function createWebTools(options: {
  config: () => Config;
  clock: Clock;
  log: Log;
}): () => readonly Tool[] {
  const { config, clock, log } = options;
  const webFetch = webFetchTool();
  const searches = new WeakMap<SearchSettings, Tool>();
  return () => {
    const settings = config().tools.web_search;
    if (settings === undefined) return [webFetch];
    const webSearch = searches.get(settings) ?? webSearchTool({ search: searchOf(settings, clock), log });
    searches.set(settings, webSearch);
    return [webFetch, webSearch];
  };
}

function searchOf({ provider, apiKey = '', baseUrl }: SearchSettings, clock: Clock): Search {
  if (provider === 'searxng') return searxngSearch({ baseUrl: baseUrl ?? '' });
  return braveSearch({ apiKey, clock, baseUrl });
}

/** A SearXNG instance that offers JSON. */
export function searxngSearch({ baseUrl }: Readonly<{ baseUrl: string }>): Search {
  return async (query, { results: most, language, country, safesearch }, signal) => {
    const url = new URL(`${baseUrl.replace(/\/+$/, '')}/search`);
    url.searchParams.set('q', query.trim());
    url.searchParams.set('format', 'json');
    url.searchParams.set('safesearch', String(safeLevels.indexOf(safesearch)));
    // It knows a country only as a part of a language.
    if (language !== undefined)
      url.searchParams.set('language', country === undefined ? language : `${language}-${country}`);
    const answer = await askService(url, {}, signal);
    if (typeof answer === 'string') return { ok: false, message: answer };
    const good = answer.status === 200 ? answered.safeParse(answer.data).data : undefined;
    if (good === undefined) return { ok: false, message: whyNot(answer.status, url) };
    if (good.results.length === 0 && good.unresponsive_engines.length > 0) {
      return { ok: false, message: `none of the engines behind ${url.host} answered` };
    }
    const results = good.results.map(({ title, url, content }) => ({ title, url, snippet: content ?? '' }));
    return { ok: true, results: results.slice(0, most) };
  };
}

function whyNot(status: number, { host }: URL): string {
  if (status === 403) {
    return `${host} refuses to answer in JSON: its operator has to add json to search.formats in settings.yml`;
  }
  if (status === 429) return `${host} takes no more searches for now: its limiter refused this one`;
  return `${host} answered with status ${status} and no results: is it SearXNG?`;
}
