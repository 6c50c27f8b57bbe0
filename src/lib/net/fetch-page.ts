import type { IncomingHttpHeaders } from 'node:http';
import type { ReachOptions } from './connect-checked.ts';
import { httpRequest } from './http-request.ts';

type FetchOptions = Readonly<{
  maxBytes: number;
  /** Milliseconds for all redirects, until the last byte. */
  timeoutMs: number;
  wants(contentType: string): boolean;
  connect?: ReachOptions;
  signal: AbortSignal;
}>;

export type FetchedPage =
  | Readonly<{
      ok: true;
      url: URL;
      status: number;
      statusText: string;
      /** In lower case and without parameters; may be empty. */
      contentType: string;
      charset?: string;
      length?: number;
      body: Buffer;
      cut: boolean;
    }>
  /** `url` means that the address or a redirect is not allowed. */
  | Readonly<{ ok: false; code: 'url' | 'timeout' | 'failed'; message: string }>;

const mostRedirects = 5;

export async function fetchPage(first: string, options: FetchOptions): Promise<FetchedPage> {
  const { wants, maxBytes, timeoutMs, connect = {}, signal } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  let written = first;
  let from: URL | undefined;
  for (let hop = 0; hop <= mostRedirects; hop += 1) {
    const url = URL.parse(written, from?.href);
    const wrong = url === null ? 'is no address' : whyNot(url);
    if (url === null || wrong !== undefined) {
      const what = from === undefined ? 'it' : `${from.host} redirects to what`;
      return { ok: false, code: 'url', message: `${what} ${wrong}` };
    }
    const came = await httpRequest(url, {
      headers: askedWith,
      maxBytes,
      wants: (status, headers) => redirectOf(status, headers) === undefined && wants(typeOf(headers).type),
      connect: { ...connect, timeoutMs },
      signal: AbortSignal.any([signal, timeout]),
    });
    if (!came.ok) {
      signal.throwIfAborted();
      if (timeout.aborted || came.code === 'timeout') {
        const message = `${url.host} gave no whole answer within ${timeoutMs / 1_000} s`;
        return { ok: false, code: 'timeout', message };
      }
      return { ok: false, code: came.code === 'refused' ? 'url' : 'failed', message: came.message };
    }
    const onward = redirectOf(came.status, came.headers);
    if (onward === undefined) {
      const { type, charset } = typeOf(came.headers);
      const length = Number(came.headers['content-length'] ?? Number.NaN);
      return {
        ok: true,
        url,
        status: came.status,
        statusText: came.statusText,
        contentType: type,
        charset,
        length: Number.isSafeInteger(length) ? length : undefined,
        body: came.body,
        cut: came.cut,
      };
    }
    written = onward;
    from = url;
  }
  return { ok: false, code: 'failed', message: `it redirects more than ${mostRedirects} times` };
}

const askedWith = {
  'user-agent': 'Mozilla/5.0 (compatible; Skillet)',
  accept: 'text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.9,*/*;q=0.5',
};

function whyNot(url: URL): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is not an http or https address';
  if (url.username !== '' || url.password !== '')
    return 'holds a user name or password, and those are not sent';
  const port = Number(url.port);
  const isWeb =
    url.port === '' || port === 80 || port === 443 || (port >= 1_024 && !otherProtocols.has(port));
  return isWeb ? undefined : `names port ${port}, which is not a port of web servers`;
}

/** Ports of other protocols, which browsers refuse as well. */
const otherProtocols = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080,
]);

function redirectOf(status: number, { location }: IncomingHttpHeaders): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) && location !== undefined
    ? Buffer.from(location, 'latin1').toString()
    : undefined;
}

function typeOf(headers: IncomingHttpHeaders): Readonly<{ type: string; charset?: string }> {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').slice(0, 500).toLowerCase().split(';');
  const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([\w.:-]+)/.exec(each)?.[1]).find(Boolean);
  return { type: type.trim(), charset };
}
