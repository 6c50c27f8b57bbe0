import type { WebSearchSettings } from '../../config/tool-sections.ts';
import { parseJson } from '../../lib/json/json-values.ts';
import { httpGet } from '../../lib/net/http-get.ts';

/** One thing a search found; as the service wrote it, in one line each. */
export type SearchResult = Readonly<{ title: string; url: string; snippet: string }>;

export type SearchOutcome =
  | Readonly<{ ok: true; results: readonly SearchResult[] }>
  /** `message` says what is wrong and who can fix it; it holds no key. */
  | Readonly<{ ok: false; message: string }>;

/** Asks a search service; best results first, as many as are set at most. */
export type Search = (
  query: string,
  settings: WebSearchSettings,
  signal: AbortSignal,
) => Promise<SearchOutcome>;

/** What a service answered, its JSON read; `undefined` where it is none. */
export type ServiceAnswer = Readonly<{ status: number; header(name: string): string; data: unknown }>;

const timeoutMs = 15_000;
const bytesLimit = 4_000_000;

/**
 * Asks a service that the operator named: it may be on this machine or its network, so its address is not judged. It is
 * not followed elsewhere. Gives a message where there was no answer.
 */
export async function askService(
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ServiceAnswer | string> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const answer = await httpGet(url, {
    headers: { accept: 'application/json', ...headers },
    maxBytes: bytesLimit,
    connect: { mayReach: () => true },
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
