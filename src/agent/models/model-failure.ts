import { ModelError, type ForOperator } from '../../core/errors.ts';
import { SilentServer } from './silence-watch.ts';
import { overlong } from '../next-step.ts';
import { fixed } from '../../core/texts/say.ts';
import type { FallbackCause } from '../../core/model.ts';
import { oneLine } from '../../lib/text/text.ts';
import type { Verdict } from './with-retries.ts';

type FaultDetails = Readonly<{
  /** The HTTP status. Undefined if there was no answer, or it broke off. */
  status?: number | undefined;
  /** The kind of error in the server's words, such as `overloaded_error` or `insufficient_quota`. */
  kinds?: readonly unknown[];
  /** The server's own sentence. */
  said?: string | undefined;
  /** The parameter that the server refuses, if it names one. */
  param?: string | undefined;
  headers?: Headers | undefined;
  cause?: unknown;
}>;

/** A model's server refused a request, was not reached, or broke off. All kinds of API end in it (M17). */
export class ServerFault extends Error {
  override readonly name = 'ServerFault';
  readonly status: number | undefined;
  readonly kinds: readonly string[];
  readonly said: string | undefined;
  readonly param: string | undefined;
  readonly headers: Headers | undefined;

  constructor(message: string, more: FaultDetails = {}) {
    super(message, { cause: more.cause });
    this.status = more.status;
    this.kinds = (more.kinds ?? []).filter((one): one is string => typeof one === 'string');
    this.said = more.said;
    this.param = more.param;
    this.headers = more.headers;
  }
}

/** A server answered with status 200, but not in the API that was asked for. It stays so until the operator acts (M19). */
export class OtherApi extends Error {
  override readonly name = 'OtherApi';

  constructor(api: string, body: string) {
    const what = /^\ufeff?\s*</.test(body) ? 'a web page' : 'something else';
    super(`It answered with ${what}, not in the ${api}: ${oneLine(body, 100)}`);
  }
}

/** Makes the fault of an answer with an error in it. `body` is its JSON, or its text. */
export function faultOf(status: number | undefined, body: unknown, headers?: Headers): ServerFault {
  // Google wraps its errors in a list.
  const outer = fieldsOf(Array.isArray(body) ? body[0] : body);
  const inner = typeof outer['error'] === 'object' ? fieldsOf(outer['error']) : outer;
  const { type, code, status: word, message = outer['error'], param } = inner;
  const given = Number(status ?? (typeof code === 'number' ? code : undefined));
  const amazon = headers?.get('x-amzn-errortype')?.split(':')[0];
  const said = [message, inner['detail'], outer['detail'], body].find(
    (one) => typeof one === 'string' && one !== '',
  );
  const words = oneLine(typeof said === 'string' ? said : JSON.stringify(body ?? ''), 2_000);
  return new ServerFault([status, words].filter((one) => one !== undefined).join(' '), {
    status: given >= 400 && given < 600 ? given : undefined,
    kinds: [code, type, word, amazon],
    said: words,
    param: typeof param === 'string' ? param : undefined,
    headers,
  });
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return (typeof value === 'object' && value !== null ? value : {}) as Readonly<Record<string, unknown>>;
}

const unreachable = fixed`I can't reach the language model right now. Please try again in a few minutes.`;
const busy = fixed`The language model is overloaded right now. Please try again in a few minutes.`;
const refused = fixed`The language model refused the request. My operator can find the reason in the log.`;
const rateLimited = fixed`The language model has reached its rate limit. Please try again in a few minutes.`;
const operatorOnly = fixed`I can't reach my language model right now. I've told my operator.`;
type Kind = Readonly<{
  status: number;
  sentence?: string;
  look?: ForOperator['look'];
  /** Why another model may answer. Undefined: what was asked is wrong for all. */
  why?: FallbackCause;
}>;
const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['invalid_request_error', { status: 400 }],
  ['authentication_error', { status: 401, sentence: operatorOnly, look: 'key', why: 'key' }],
  ['billing_error', { status: 402, sentence: operatorOnly, look: 'account', why: 'credit' }],
  ['permission_error', { status: 403, sentence: operatorOnly, look: 'key', why: 'key' }],
  ['not_found_error', { status: 404, sentence: operatorOnly, look: 'endpoint', why: 'down' }],
  ['request_too_large', { status: 413, sentence: overlong, why: 'too_long' }],
  ['rate_limit_error', { status: 429, sentence: rateLimited, why: 'busy' }],
  ['overloaded_error', { status: 529, why: 'busy' }],
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
const aboutFilesPattern =
  /\b(images?|pdfs?|documents?|vision|multimodal|multi-modal|mmproj|image_url|content part|part type|content\[\]\.type|unknown variant)\b/i;
const neverTooLong: readonly number[] = [401, 402, 403, 404, 408, 409, 429];

/** What words of other APIs mean among the kinds above. */
const meanings: ReadonlyMap<string, string> = new Map([
  ['enforced_spend_limit_reached', 'billing_error'],
  ['insufficient_quota', 'billing_error'],
  ['billing_not_active', 'billing_error'],
  ['billing_hard_limit_reached', 'billing_error'],
  ['invalid_api_key', 'authentication_error'],
  ['UNAUTHENTICATED', 'authentication_error'],
  ['UnrecognizedClientException', 'authentication_error'],
  ['ExpiredTokenException', 'authentication_error'],
  ['AccessDeniedException', 'permission_error'],
  ['model_not_found', 'not_found_error'],
  ['ResourceNotFoundException', 'not_found_error'],
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['ThrottlingException', 'rate_limit_error'],
  ['throttlingException', 'rate_limit_error'],
  ['validationException', 'invalid_request_error'],
]);
/** What a 400 is about, by its sentence. */
const about400: readonly (readonly [RegExp, string])[] = [
  [/credit balance|insufficient (balance|credits|funds)/i, 'billing_error'],
  [/api key not valid|(invalid|incorrect) api key/i, 'authentication_error'],
  [/not a valid model|model identifier is invalid|model not exist|invalid model/i, 'not_found_error'],
];
/** Words for a request that the provider's rules forbid, before a model saw it. */
const refusals: readonly string[] = ['content_filter', 'content_policy_violation', 'invalid_prompt'];

/** Whether the server declined the request for what it says, as a model does with a refusal. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ServerFault && error.kinds.some((kind) => refusals.includes(kind));
}

/** Whether to try again: after 408, 409, 429, 5xx and lost connections (M4). */
export function judgeFailure(error: unknown, now: number): Verdict {
  if (!(error instanceof ServerFault)) return { again: false };
  if (error.cause instanceof SilentServer) return { again: true, later: true };
  if (isTooLong(error) || isAboutFiles(error)) return { again: false };
  const { status, kinds: words, headers } = error;
  const header = (name: string): string | null => headers?.get(name) ?? null;
  const kind = kindOf(error);
  // Such a 429 stays until the operator acts.
  if (kind === 'billing_error' || header('x-should-retry') === 'false') return { again: false };
  if (status === undefined)
    return { again: words.length === 0 || kind === undefined || kinds.get(kind)?.why === 'busy' };
  if (![408, 409, 429].includes(status) && status < 500) return { again: false };
  const afterMs = retryAfterMs(header('retry-after-ms'), header('retry-after'), now);
  return { again: true, afterMs };
}

/** Makes an error with a sentence for people and a cause for the log, both without secrets (M4). */
export function toModelError(
  error: unknown,
  options: Readonly<{ alias: string; passing: boolean; redact(text: string): string }>,
): ModelError {
  const { alias, passing, redact } = options;
  const fault = error instanceof ServerFault ? error : undefined;
  const cause = new Error(redact(chain(error)));
  cause.stack = error instanceof Error ? redact(error.stack ?? '') : cause.message;
  const said = fault?.said === undefined ? undefined : oneLine(redact(fault.said), 300).replace(/\.$/, '');
  return new ModelError(`model "${alias}": ${cause.message}`, {
    sentence: sentenceFor(error, passing),
    passing,
    tooLong: fault !== undefined && isTooLong(fault),
    tooLarge: fault?.status === 413,
    aboutFiles: fault !== undefined && isAboutFiles(fault),
    said,
    forOperator: operatorWords(error, said, redact),
    why: whyOf(error),
    cause,
  });
}

function kindOf({ status, kinds: words, said = '' }: ServerFault): string | undefined {
  const meant = words.flatMap((word) => meanings.get(word) ?? [])[0];
  if (meant !== undefined) return meant;
  const about = status === 400 ? about400.find(([pattern]) => pattern.test(said)) : undefined;
  if (about !== undefined) return about[1];
  const byStatus = kinds.entries().find(([, kind]) => kind.status === status)?.[0];
  return byStatus ?? words.find((word) => kinds.has(word));
}

/** Why another model may answer in place of this one (M18). Undefined: it would fail, too. */
function whyOf(error: unknown): FallbackCause | undefined {
  if (error instanceof OtherApi) return 'down';
  if (!(error instanceof ServerFault)) return undefined;
  if (isTooLong(error)) return 'too_long';
  if (isAboutFiles(error)) return undefined;
  const kind = kindOf(error);
  if (kind !== undefined) return kinds.get(kind)?.why;
  const { status = 500 } = error;
  if (status === 503) return 'busy';
  return status >= 500 || status === 408 || status === 409 ? 'down' : undefined;
}

function operatorWords(
  error: unknown,
  said: string | undefined,
  redact: (text: string) => string,
): ForOperator | undefined {
  if (error instanceof OtherApi) return { said: `${redact(error.message)}.`, look: 'endpoint' };
  if (!(error instanceof ServerFault)) return undefined;
  const kind = kindOf(error);
  const look = kinds.get(kind ?? '')?.look;
  if (look === undefined || isTooLong(error)) return undefined;
  return { said: `It said (${error.status ?? kind}): ${said ?? error.message}.`, look };
}

function sentenceFor(error: unknown, passing: boolean): string {
  if (error instanceof OtherApi) return operatorOnly;
  const fault = error instanceof ServerFault ? error : undefined;
  if (fault !== undefined && isTooLong(fault)) return overlong;
  const known = fault === undefined ? undefined : kinds.get(kindOf(fault) ?? '')?.sentence;
  if (known !== undefined) return known;
  if (!passing) return refused;
  return fault?.status === undefined && (fault?.kinds ?? []).length === 0 ? unreachable : busy;
}

/** Whether the prompt was too long. llama.cpp and some gateways answer with 500. */
function isTooLong({ status, message, kinds: words }: ServerFault): boolean {
  if (status === 413 || words.includes('context_length_exceeded')) return true;
  return !neverTooLong.includes(status ?? 0) && tooLongPattern.test(message);
}

/** Whether a picture or document was refused. Local servers answer with 500. */
function isAboutFiles({ status, message }: ServerFault): boolean {
  return [400, 404, 422, 500, 501].includes(status ?? 0) && aboutFilesPattern.test(message);
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
