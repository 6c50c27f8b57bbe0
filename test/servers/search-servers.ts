import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createServer } from '../../src/lib/net/node-http.ts';

/** A search service on loopback that refuses what the real one refuses, with the same answers. */
export type SearchServer = Readonly<{
  baseUrl: string;
  /** Queries it answered with results. */
  queries: readonly string[];
  /** How each of them was asked: its parameters but the query. */
  asked: readonly Readonly<Record<string, string>>[];
  close(): Promise<void>;
}>;

type Found = Readonly<{ title: string; url: string; text: string }>;

const braveLanguages = new Set(['en', 'de', 'fr', 'it', 'es', 'pt-br', 'zh-hans']);
const braveParameters = new Set(
  'q country search_lang ui_lang count offset safesearch freshness text_decorations spellcheck result_filter goggles units extra_snippets summary'.split(
    ' ',
  ),
);

/** Brave's Web Search API. `perSecond`: searches that one window of the plan allows. */
export async function startBraveServer(options: {
  key: string;
  results: readonly Found[];
  /** The windows used up, one an entry: how many seconds until each begins anew. */
  limited?: string[];
}): Promise<SearchServer> {
  return serve((note) => (asked, answer) => {
    const url = new URL(asked.url ?? '', 'http://brave.test');
    const send = (status: number, data: unknown, headers: Record<string, string> = {}): void => {
      const packed = /gzip/.test(asked.headers['accept-encoding'] ?? '');
      const body = Buffer.from(JSON.stringify(data));
      answer.writeHead(status, {
        'content-type': 'application/json',
        ...(packed ? { 'content-encoding': 'gzip' } : {}),
        ...headers,
      });
      answer.end(packed ? gzipSync(body) : body);
    };
    const refuse = (status: number, code: string, headers: Record<string, string> = {}): void => {
      const error = { id: randomUUID(), status, code, detail: 'Refused.', meta: {} };
      send(status, { type: 'ErrorResponse', error, time: 1_663_072_993 }, headers);
    };
    if (asked.method !== 'GET' || url.pathname !== '/res/v1/web/search')
      return refuse(404, 'RESOURCE_NOT_FOUND');
    const token = asked.headers['x-subscription-token'];
    if (token === undefined) return refuse(422, 'VALIDATION');
    if (token !== options.key) return refuse(422, 'SUBSCRIPTION_TOKEN_INVALID');
    const query = url.searchParams.get('q') ?? '';
    const count = Number(url.searchParams.get('count') ?? 20);
    const known = [...url.searchParams.keys()].every((name) => braveParameters.has(name));
    const asSet =
      /^(off|moderate|strict)$/.test(url.searchParams.get('safesearch') ?? 'moderate') &&
      braveLanguages.has(url.searchParams.get('search_lang') ?? 'en') &&
      /^[A-Z]{2}$/.test(url.searchParams.get('country') ?? 'US');
    const fits = asSet && query !== '' && query.length <= 400 && query.split(/\s+/).length <= 50;
    if (!known || !fits || !(count >= 1 && count <= 20)) return refuse(422, 'VALIDATION');
    const reset = options.limited?.shift();
    if (reset !== undefined) {
      return refuse(429, 'RATE_LIMITED', {
        'x-ratelimit-limit': '1, 15000',
        'x-ratelimit-policy': '1;w=1, 15000;w=2592000',
        'x-ratelimit-remaining': reset === 'month' ? '0, 0' : '0, 900',
        'x-ratelimit-reset': '1, 1419704',
      });
    }
    note(url);
    const results = options.results.slice(0, count).map(({ title, url: found, text }) => ({
      title,
      url: found,
      is_source_local: false,
      description: text,
      profile: { name: 'Site', url: found, long_name: 'site', img: 'https://imgs.search.brave.com/x' },
      language: 'en',
      family_friendly: true,
      type: 'search_result',
      subtype: 'generic',
    }));
    send(200, {
      query: { original: query, show_strict_warning: false, is_navigational: false },
      mixed: { type: 'mixed', main: [] },
      type: 'search',
      // The real one leaves it out where nothing was found.
      ...(results.length === 0 ? {} : { web: { type: 'search', results, family_friendly: true } }),
    });
  });
}

/** A SearXNG instance; `formats` as in its settings.yml. */
export async function startSearxngServer(options: {
  formats: readonly string[];
  results: readonly Found[];
  unresponsive?: readonly string[][];
}): Promise<SearchServer> {
  return serve((note) => (asked, answer) => {
    const url = new URL(asked.url ?? '', 'http://searxng.test');
    const page = (status: number, body: string): void => {
      answer.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html>${body}`);
    };
    if (url.pathname !== '/search' && url.pathname !== '/') return page(404, 'Not Found');
    const format = url.searchParams.get('format') ?? 'html';
    if (!options.formats.includes(format)) return page(403, 'Forbidden');
    const query = url.searchParams.get('q') ?? '';
    if (query === '') {
      answer.writeHead(400, { 'content-type': 'application/json' });
      return void answer.end(JSON.stringify({ error: 'No query' }));
    }
    if (!/^[012]$/.test(url.searchParams.get('safesearch') ?? '0')) return page(400, 'Invalid value');
    if (!/^(all|auto|[a-z]{2,3}(-[A-Z]{2})?)$/.test(url.searchParams.get('language') ?? 'all'))
      return page(400, 'Invalid value');
    if (format !== 'json') return page(200, 'results');
    note(url);
    const results = options.results.map(({ title, url: found, text }) => ({
      url: found,
      title,
      content: text === '' ? null : text,
      thumbnail: null,
      engine: 'duckduckgo',
      template: 'default.html',
      parsed_url: ['https', 'example.com', '/', '', '', ''],
      engines: ['duckduckgo'],
      positions: [1],
      score: 1.0,
      category: 'general',
    }));
    answer.writeHead(200, { 'content-type': 'application/json' });
    answer.end(
      JSON.stringify({
        query,
        number_of_results: 0,
        results,
        answers: [],
        corrections: [],
        infoboxes: [],
        suggestions: [],
        unresponsive_engines: options.unresponsive ?? [],
      }),
    );
  });
}

async function serve(listener: (note: (url: URL) => void) => RequestListener): Promise<SearchServer> {
  const queries: string[] = [];
  const asked: Record<string, string>[] = [];
  const server = createServer(
    listener(({ searchParams }) => {
      const { q = '', ...others } = Object.fromEntries(searchParams);
      queries.push(q);
      asked.push(others);
    }),
  );
  // An idle connection that the server ends just as a request is sent would fail that request.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    queries,
    asked,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
