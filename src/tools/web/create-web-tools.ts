import type { Config } from '../../config/complete-config.ts';
import { wayOutOf } from '../../config/way-out.ts';
import type { Tool } from '../../core/tool.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { WayOut } from '../../lib/net/connect-checked.ts';
import { webFetchTool } from './web-fetch.ts';
import { webSearchTool } from './web-search.ts';
import { braveSearch, searxngSearch, type Search } from './search-services.ts';

type SearchSettings = NonNullable<Config['tools']['web_search']>;

/** Returns the web tools by the current config: `web_search` only if a provider is configured (T2). */
export function createWebTools(options: {
  config: () => Config;
  clock: Clock;
  log: Log;
}): () => readonly Tool[] {
  const { config, clock, log } = options;
  const wayOut = wayOutOf(config());
  const webFetch = webFetchTool({ connect: wayOut });
  const searches = new WeakMap<SearchSettings, Tool>();
  return () => {
    const settings = config().tools.web_search;
    if (settings === undefined) return [webFetch];
    const webSearch = searches.get(settings) ?? searchTool(settings, { clock, log, wayOut });
    searches.set(settings, webSearch);
    return [webFetch, webSearch];
  };
}

/** The tool, or the offer that the model's server searches itself (M21). */
function searchTool(
  settings: SearchSettings,
  { clock, log, wayOut }: Readonly<{ clock: Clock; log: Log; wayOut: WayOut }>,
): Tool {
  if (settings.provider !== 'model') return webSearchTool({ search: searchOf(settings, clock, wayOut), log });
  const message = 'this model searches by itself, or it has no search';
  const tool = webSearchTool({ search: async () => ({ ok: false, message }), log });
  return { ...tool, byModel: true, settings: undefined };
}

function searchOf(
  { provider, apiKey = '', baseUrl }: SearchSettings,
  clock: Clock,
  { proxy }: WayOut,
): Search {
  if (provider === 'searxng') return searxngSearch({ baseUrl: baseUrl ?? '', proxy });
  return braveSearch({ apiKey, clock, baseUrl, proxy });
}
