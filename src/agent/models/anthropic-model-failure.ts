import type { Anthropic } from '@anthropic-ai/sdk/index.js';
import { ModelError, type ForOperator } from '../../core/errors.ts';
import { SilentServer } from './silence-watch.ts';
import { overlong } from '../next-step.ts';
import { fixed } from '../../core/texts/say.ts';
import type { Clock } from '../../lib/clock.ts';
import { oneLine } from '../../lib/text/text.ts';

const maxTries = 4;
const budgetMs = 120_000;
const firstWaitMs = 500;
const longestWaitMs = 8_000;

export type Sdk = typeof Anthropic;

/** A server answered with status 200, but not in the Messages API. That stays so until the operator acts (M19). */
export class NoMessagesApi extends Error {
  override readonly name = 'NoMessagesApi';

  constructor(body: string) {
    const what = /^\ufeff?\s*</.test(body) ? 'a web page' : 'something else';
    super(`It answered with ${what}, not in the Messages API: ${oneLine(body, 100)}`);
  }
}

const unreachable = fixed`I can't reach the language model right now. Please try again in a few minutes.`;
const busy = fixed`The language model is overloaded right now. Please try again in a few minutes.`;
const refused = fixed`The language model refused the request. My operator can find the reason in the log.`;
const rateLimited = fixed`The language model has reached its rate limit. Please try again in a few minutes.`;
const operatorOnly = fixed`I can't reach my language model right now. I've told my operator.`;
type Kind = Readonly<{ status: number; sentence?: string; look?: ForOperator['look'] }>;
const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['invalid_request_error', { status: 400 }],
  ['authentication_error', { status: 401, sentence: operatorOnly, look: 'key' }],
  ['billing_error', { status: 402, sentence: operatorOnly, look: 'account' }],
  ['permission_error', { status: 403, sentence: operatorOnly, look: 'key' }],
  ['not_found_error', { status: 404, sentence: operatorOnly, look: 'endpoint' }],
  ['request_too_large', { status: 413, sentence: overlong }],
  ['rate_limit_error', { status: 429, sentence: rateLimited }],
]);
const tooLongPattern = new RegExp(
  [
    String.raw`\b(prompt|input|request|conversation|messages?)( is)? too long`,
    String.raw`context[ _](length|window|size|limit)`,
    String.raw`exceeds? .*\bcontext\b`,
    String.raw`longer than the (maximum model length|model's context)`,
    String.raw`input token count.* exceeds`,
    String.raw`maximum prompt length`,
    String.raw`exceeded model token limit`,
    String.raw`reduce the length of the (input )?(messages|prompt)`,
  ].join('|'),
  'i',
);
const aboutFilesPattern = /\b(images?|pdfs?|documents?|vision|multimodal|multi-modal|mmproj)\b/i;
const neverTooLong: readonly number[] = [401, 402, 403, 404, 408, 409, 429];

/** Whether to try again: after 408, 409, 429, 5xx and lost connections (M4). */
export function judgeFailure(error: unknown, sdk: Sdk, now: number): Verdict {
  if (!(error instanceof sdk.AnthropicError)) return { again: false };
  const api = apiError(error, sdk);
  if (error.cause instanceof SilentServer) return { again: true, later: true };
  if (api === undefined) return { again: true };
  if (isTooLong(api) || isAboutFiles(api)) return { again: false };
  const { status, type, errorCode } = api;
  const header = (name: string): string | null => api.headers?.get(name) ?? null;
  // Such a 429 stays until the operator acts.
  if (errorCode === 'enforced_spend_limit_reached' || header('x-should-retry') === 'false')
    return { again: false };
  if (status === undefined)
    return { again: type === null || type === 'rate_limit_error' || !kinds.has(type) };
  if (![408, 409, 429].includes(status) && status < 500) return { again: false };
  const afterMs = retryAfterMs(header('retry-after-ms'), header('retry-after'), now);
  return { again: true, afterMs };
}

/** Makes an error with a sentence for people and a cause for the log, both without secrets (M4). */
export function toModelError(
  error: unknown,
  options: Readonly<{ sdk: Sdk; alias: string; passing: boolean; redact(text: string): string }>,
): ModelError {
  const { sdk, alias, passing, redact } = options;
  const api = apiError(error, sdk);
  const type = typeOf(api);
  const forOperator = operatorWords(error instanceof NoMessagesApi ? error : api, type, redact);
  const cause = new Error(redact(chain(error)));
  cause.stack = error instanceof Error ? redact(error.stack ?? '') : cause.message;
  return new ModelError(`model "${alias}": ${cause.message}`, {
    sentence: error instanceof NoMessagesApi ? operatorOnly : sentenceFor(api, type, passing),
    passing,
    tooLong: api !== undefined && isTooLong(api),
    tooLarge: api?.status === 413,
    aboutFiles: api !== undefined && isAboutFiles(api),
    said: api === undefined ? undefined : saidBy(api, redact),
    forOperator,
    cause,
  });
}

function typeOf(api: ApiError | undefined): string | undefined {
  if (api?.status === 400 && /credit balance/i.test(api.message)) return 'billing_error';
  if (api?.errorCode === 'enforced_spend_limit_reached') return 'billing_error';
  return api?.type ?? kinds.entries().find(([, { status }]) => status === api?.status)?.[0];
}

type ApiBody = Readonly<{ error?: Readonly<{ message?: unknown }> }>;

function operatorWords(
  api: ApiError | NoMessagesApi | undefined,
  type: string | undefined,
  redact: (text: string) => string,
): ForOperator | undefined {
  if (api === undefined) return undefined;
  if (api instanceof NoMessagesApi) return { said: `${redact(api.message)}.`, look: 'endpoint' };
  const look = kinds.get(type ?? '')?.look;
  if (look === undefined || isTooLong(api)) return undefined;
  return { said: `It said (${api.status ?? type}): ${saidBy(api, redact)}.`, look };
}

function saidBy(api: ApiError, redact: (text: string) => string): string {
  const { error }: ApiBody = api.error ?? {};
  const said = typeof error?.message === 'string' ? error.message : api.message;
  return oneLine(redact(said), 300).replace(/\.$/, '');
}

function sentenceFor(api: ApiError | undefined, type: string | undefined, passing: boolean): string {
  if (api !== undefined && isTooLong(api)) return overlong;
  const known = kinds.get(type ?? '')?.sentence;
  if (known !== undefined) return known;
  if (!passing) return refused;
  return api?.status === undefined && type === undefined ? unreachable : busy;
}

/** Whether the prompt was too long. llama.cpp and some gateways answer with 500. */
function isTooLong({ status, message }: ApiError): boolean {
  if (status === 413) return true;
  return !neverTooLong.includes(status ?? 0) && tooLongPattern.test(message);
}

/** Whether a picture or document was refused. Local servers answer with 500. */
function isAboutFiles({ status, message }: ApiError): boolean {
  return [400, 422, 500, 501].includes(status ?? 0) && aboutFilesPattern.test(message);
}

type ApiError = InstanceType<Sdk['APIError']>;

function apiError(error: unknown, sdk: Sdk): ApiError | undefined {
  return error instanceof sdk.APIError ? (error as ApiError) : undefined;
}

/** The messages of an error and its causes: `fetch failed: connect ECONNREFUSED 127.0.0.1:1`. */
function chain(error: unknown): string {
  const messages: string[] = [];
  for (let at: unknown = error; at instanceof Error && messages.length < 5; at = at.cause) {
    if (at.message !== '' && !messages.includes(at.message)) messages.push(at.message);
  }
  return messages.join(': ') || String(error);
}

function retryAfterMs(ms: string | null, header: string | null, now: number): number | undefined {
  const millis = Number(ms ?? Number.NaN);
  if (Number.isFinite(millis)) return Math.max(0, millis);
  if (header === null) return undefined;
  const seconds = Number(header);
  const wait = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

/** Whether to try again, and after how many milliseconds. */
type Verdict = Readonly<
  | { again: false; later?: undefined }
  /** `later` is set if a person has waited long already, and another model may answer now. */
  | { again: true; afterMs?: number | undefined; later?: true }
>;

/**
 * Tries four times within two minutes of the first failure (M4). It waits as the server asks, or 0.5, 1 and 2 s plus up
 * to a quarter. Throws the last failure or the signal's reason.
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  options: Readonly<{
    judge(error: unknown): Verdict;
    onRetry(error: unknown, waitMs: number): void;
    clock: Clock;
    signal: AbortSignal;
    random(): number;
  }>,
): Promise<T> {
  const { judge, onRetry, clock, signal, random } = options;
  let deadline: number | undefined;
  for (let number = 1; ; number++) {
    signal.throwIfAborted();
    try {
      return await attempt(number);
    } catch (error) {
      signal.throwIfAborted();
      deadline ??= clock.now() + budgetMs;
      const verdict = judge(error);
      if (!verdict.again || verdict.later === true || number === maxTries) throw error;
      const wanted = verdict.afterMs ?? Math.min(longestWaitMs, firstWaitMs * 2 ** (number - 1));
      const waitMs = Math.round(wanted * (1 + random() / 4));
      if (clock.now() + waitMs > deadline) throw error;
      onRetry(error, waitMs);
      await clock.sleep(waitMs, signal);
    }
  }
}
