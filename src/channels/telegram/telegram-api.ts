import type { Agent as HttpAgent } from 'node:http';
import { Api, Bot, BotError, type ApiClientOptions, type RawApi, type Transformer } from 'grammy';
import { proxiesOf, proxyForUrl } from '../../lib/net/proxy-for.ts';

/**
 * A failed call, which is safe to log: it contains no token (S3) and no content. `unknown` means that it may have been
 * carried out.
 */
export class TelegramFault extends Error {
  override readonly name = 'TelegramFault';
  readonly kind: 'answered' | 'not_sent' | 'unknown';
  readonly method: string;
  /** Telegram's code; 0 if there was no answer. */
  readonly code: number;
  readonly description: string;
  readonly retryAfterMs: number | undefined;
  readonly movedTo: string | undefined;

  constructor(
    kind: TelegramFault['kind'],
    method: string,
    message: string,
    more: {
      code?: number;
      description?: string;
      retryAfterMs?: number;
      movedTo?: string;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.kind = kind;
    this.method = method;
    this.code = more.code ?? 0;
    this.description = more.description ?? '';
    this.retryAfterMs = more.retryAfterMs;
    this.movedTo = more.movedTo;
  }
}

/** Telegram's methods. They reject with TelegramFault and retry nothing. */
export type TelegramApi = RawApi;

/** In seconds, which is longer than a poll. */
const longestCallSeconds = 60;
/** In seconds, for 50 MB on a slow connection. */
export const longestUploadSeconds = 600;

/** Codes of errors after which no byte of the request has left. */
const notSentCodes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

type ApiSettings = Readonly<{ token: string; apiRoot?: string; timeoutSeconds?: number }>;

/** Makes a bot whose `api` rejects in the same way as TelegramApi. */
export function createTelegramBot(settings: ApiSettings): Bot {
  const bot = new Bot(settings.token, { client: clientOptions(settings) });
  bot.api.config.use(faultsOf(settings.token));
  return bot;
}

export function createTelegramApi(settings: ApiSettings): TelegramApi {
  const api = new Api(settings.token, clientOptions(settings));
  api.config.use(faultsOf(settings.token));
  return api.raw;
}

function clientOptions({ apiRoot, timeoutSeconds = longestCallSeconds }: ApiSettings): ApiClientOptions {
  return {
    timeoutSeconds,
    apiRoot: apiRoot?.replace(/\/+$/, ''),
    // grammY's own agents do not know of proxies.
    baseFetchConfig: { agent: agentFor(apiRoot ?? 'https://api.telegram.org') },
  };
}

function faultsOf(token: string): Transformer {
  return async (call, method, payload, signal) => {
    const answer = await call(method, payload, signal).catch((error: unknown) => {
      throw networkFault(method, error, token);
    });
    if (!isBotApi(answer))
      throw new TelegramFault('unknown', method, `${method} got no usable answer: JSON of something else`);
    if (answer.ok) return answer;
    const { error_code: code, description, parameters } = answer;
    throw new TelegramFault('answered', method, `Telegram refused ${method}: ${code} ${description}`, {
      code,
      description,
      retryAfterMs: parameters?.retry_after === undefined ? undefined : parameters.retry_after * 1000,
      movedTo:
        parameters?.migrate_to_chat_id === undefined ? undefined : String(parameters.migrate_to_chat_id),
    });
  };
}

/** The error that a listener threw. grammY's own error contains the token. */
export function thrownBy(error: unknown): unknown {
  return error instanceof BotError ? error.error : error;
}

/** An agent that uses the proxy of the environment, if there is one for this address. */
function agentFor(apiRoot: string): HttpAgent {
  const url = new URL(apiRoot);
  const proxy = proxyForUrl(url, proxiesOf(process.env))?.href;
  const proxyEnv = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
  const module = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
  return new module.Agent({ keepAlive: true, proxyEnv });
}

/** Whether an answer is Telegram's. Gateways answer with other JSON. */
function isBotApi(answer: unknown): boolean {
  const { ok, result, error_code } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  return ok === true ? result !== undefined : typeof error_code === 'number';
}

function networkFault(method: string, error: unknown, token: string): TelegramFault {
  // grammY wraps what `fetch` threw.
  const inner = error instanceof Error && 'error' in error ? error.error : error;
  const code = inner instanceof Error && 'code' in inner ? String(inner.code) : '';
  const told = inner instanceof Error ? inner.message : String(inner);
  const cause = new Error(withoutToken(told, token));
  return notSentCodes.includes(code)
    ? new TelegramFault('not_sent', method, `Telegram could not be reached for ${method}: ${code}`, { cause })
    : new TelegramFault('unknown', method, `${method} got no usable answer: ${code || 'cut off'}`, { cause });
}

/** Removes the token, which is in every URL and may be percent-encoded. */
export function withoutToken(text: string, token: string): string {
  return text
    .replaceAll(token, '[redacted]')
    .replaceAll(encodeURIComponent(token), '[redacted]')
    .replace(/\/bot\d+[^/\s]*/gi, '/bot[redacted]');
}

export function saidBy(error: unknown, words: RegExp): boolean {
  return error instanceof TelegramFault && error.kind === 'answered' && words.test(error.description);
}
