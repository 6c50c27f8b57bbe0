import { monotonicClock } from '../../lib/async/deadline.ts';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { createCountValues, tooManyValues, valuesLimit } from '../../lib/json/json-values.ts';

/**
 * How many messages a server may send within a minute: more than any use needs, and few enough to be read beside other
 * work.
 */
const mostMessages = 6_000;

const mostBytes = 64 * 1024 * 1024;

const mostValues = 1_000_000;

const windowMs = 60_000;

const nothing = { messages: 0, bytes: 0, values: 0 };

/** How many bytes one answer or event may have. */
const answerLimit = 10 * 1024 * 1024;
/** What opening a stream counts, in messages, because a server can make us open streams again and again. */
const streamCost = 50;

/**
 * A `fetch` with limits: 10 MB or 100,000 values in an answer or event, and a rate. Beyond them it fails and calls
 * `onTooMuch`.
 */
export function limitedFetch(
  onTooMuch: (why: string) => void,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const flow = createFlowMeter(systemClock);
  return async (url, init) => {
    const response = await fetch(url, init);
    const tooMany = init?.method === 'GET' ? flow(streamCost, 0) : undefined;
    if (tooMany !== undefined) onTooMuch(tooMany);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    const { status, statusText, headers } = response;
    const body = response.body.pipeThrough(limit(isStream, flow, onTooMuch));
    const limited = new Response(body, { status, statusText, headers });
    // Redirects need the address, which a new Response does not have.
    Object.defineProperty(limited, 'url', { value: response.url });
    return limited;
  };
}

function limit(
  isStream: boolean,
  flow: ReturnType<typeof createFlowMeter>,
  onTooMuch: (why: string) => void,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const countValues = createCountValues();
  let size = 0;
  let values = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const more = countValues(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1'));
      size += chunk.length;
      values += more;
      const why =
        size > answerLimit
          ? `it sent more than ${answerLimit} bytes at once`
          : values > valuesLimit
            ? tooManyValues
            : flow(isStream ? eventsIn(chunk) : 1, chunk.length, more);
      if (why !== undefined) {
        controller.error(new Error(why));
        onTooMuch(why);
        return;
      }
      controller.enqueue(chunk);
      // An empty line ends an event. A line end at the end of a chunk is near enough.
      if (!isStream || chunk.at(-1) !== 10) return;
      size = 0;
      values = 0;
    },
  });
}

/** About how many events end in a chunk; at least one. */
function eventsIn(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  let events = 1;
  for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n', at + 2)) events += 1;
  for (let at = text.indexOf('\r\n\r\n'); at !== -1; at = text.indexOf('\r\n\r\n', at + 4)) events += 1;
  return events;
}

/**
 * Counts what a server sends. Returns why the connection has to end if that is too much within a minute (X7), otherwise
 * undefined.
 */
export function createFlowMeter(
  clock: Clock,
): (messages: number, bytes: number, values?: number) => string | undefined {
  const now = monotonicClock(clock);
  let since = now();
  let sum = nothing;
  return (messages, bytes, values = 0) => {
    if (now() - since >= windowMs) {
      since = now();
      sum = nothing;
    }
    sum = { messages: sum.messages + messages, bytes: sum.bytes + bytes, values: sum.values + values };
    if (sum.messages > mostMessages) return `it sent more than ${mostMessages} messages within a minute`;
    if (sum.bytes > mostBytes) return `it sent more than ${mostBytes} bytes within a minute`;
    if (sum.values > mostValues) return `it sent more than ${mostValues} values within a minute`;
    return undefined;
  };
}
