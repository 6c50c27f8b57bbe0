import type { Config } from '../../config/complete-config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Tool } from '../../core/tool.ts';
import { webFetchTool } from '../built-in/web-fetch.ts';
import { webSearchTool } from '../built-in/web-search.ts';
import { braveSearch } from './brave-search.ts';
import type { Search } from './ask-service.ts';
import { searxngSearch } from './searxng-search.ts';

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
  return braveSearch({ apiKey, clock, ...(baseUrl === undefined ? {} : { baseUrl }) });
}
