import type { AskedBody, Ask, Endpoint, Fetch } from './http-model.ts';
import { faultOf, ServerFault } from './model-failure.ts';
import { messagesForm } from './read-answer.ts';

/** Makes the client of Anthropic's Messages API. The SDK is loaded now. */
export async function connectAnthropic({ baseUrl, apiKey }: Endpoint, watched: Fetch): Promise<Ask> {
  // The CommonJS build loads 40 ms faster and saves 1 MB.
  const { Anthropic } = await import('@anthropic-ai/sdk/index.js');
  const { messages } = new Anthropic({
    ...clientOptions(watched),
    baseURL: baseUrl,
    // Without a key the SDK would look for another one.
    apiKey: apiKey ?? 'none',
    defaultHeaders: apiKey === undefined ? { authorization: null } : undefined,
  });
  return askWith((body, signal) => messages.create({ ...body, stream: true }, { signal }).asResponse());
}

/** Options of all clients of Anthropic's packages: we retry, trace and log ourselves. */
export function clientOptions(watched: Fetch) {
  return { maxRetries: 0, fetch: watched, openTelemetry: false, logLevel: 'off' } as const;
}

/** Asks by a client of one of Anthropic's packages, and turns its errors into faults. */
export function askWith(send: (body: AskedBody, signal: AbortSignal) => Promise<Response>): Ask {
  return async (body, signal) => {
    try {
      return { response: await send(body, signal), form: messagesForm };
    } catch (error) {
      throw toFault(error);
    }
  };
}

/** What an error of the SDK has, whichever copy of its classes it is of. */
type SdkError = Error &
  Readonly<{
    status?: number;
    headers?: Headers;
    /** The body of the answer. */
    error?: unknown;
    type?: unknown;
    errorCode?: unknown;
  }>;

/** Errors of the SDK as faults. Others, of our own code, stay as they are. */
function toFault(error: unknown): unknown {
  if (!(error instanceof Error) || !('status' in error) || !('headers' in error)) return error;
  const { status, message, errorCode, type, headers, cause, error: body } = error as SdkError;
  const { said, kinds } = faultOf(status, body, headers);
  const kindsTold = [errorCode, type, ...kinds];
  return new ServerFault(message, {
    status,
    kinds: kindsTold,
    said: body === undefined ? undefined : said,
    headers,
    cause,
  });
}
