import type { Log } from '../../lib/log.ts';

export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;
type AttributeValue = string | number | boolean | readonly string[] | Readonly<{ seconds: number }>;

/** One traced step. Times are in Unix milliseconds. `error` is the kind of error, if the step failed. */
export type Span = Readonly<{
  traceId: string;
  spanId: string;
  parentSpanId?: string | undefined;
  name: string;
  kind: 'internal' | 'client' | 'producer' | 'consumer';
  from: number;
  to: number;
  attributes: Attributes;
  error?: string | undefined;
}>;

export type SpanExport = Readonly<{ add(span: Span): void; close(): Promise<void> }>;

const kinds = { internal: 1, client: 3, producer: 4, consumer: 5 } as const;
const everyMs = 5_000;
const mostInRequest = 512;
/** How many spans wait while the collector is away; newer ones are dropped. */
const mostWaiting = 2_048;
const requestMs = 10_000;
const closeMs = 2_000;

type Collector = Readonly<{
  url: string;
  headers: Readonly<Record<string, string>>;
  resource: Attributes;
  version: string;
}>;

/** Sends spans in batches, as OTLP over HTTP in JSON. If the collector is away, spans are lost, but never an answer. */
export function createSpanExport(options: Collector & Readonly<{ log: Log }>): SpanExport {
  const { log } = options;
  const waiting: Span[] = [];
  const closing = new AbortController();
  let sending: Promise<void> | undefined;
  let failing = false;

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, mostInRequest);
      const problem = await post(options, batch, closing.signal);
      // A busy collector gets them again. What it refuses now it would refuse again, so that is dropped.
      if (problem?.again !== true) waiting.splice(0, batch.length);
      if (problem !== undefined && !failing)
        log.warn({ reason: problem.reason }, 'the collector refuses traces');
      failing = problem !== undefined;
      if (problem?.again === true) return;
    }
  }

  const flush = (): Promise<void> => (sending ??= send().finally(() => (sending = undefined)));
  const timer = setInterval(() => void flush(), everyMs);
  timer.unref();
  return {
    add(span) {
      if (waiting.length < mostWaiting) waiting.push(span);
      if (waiting.length === mostInRequest) void flush();
    },
    async close() {
      clearInterval(timer);
      const late = setTimeout(() => closing.abort(), closeMs);
      await flush();
      // Sends what came while the first flush was running.
      await flush();
      clearTimeout(late);
    },
  };
}

/** Returns why the collector did not accept the spans, and whether it may accept them later. Undefined if it did. */
async function post(
  { url, headers, resource, version }: Collector,
  spans: readonly Span[],
  closing: AbortSignal,
): Promise<Readonly<{ reason: string; again: boolean }> | undefined> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(requestMs)]);
  const body = JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: toAttributes(resource) },
        scopeSpans: [{ scope: { name: 'skillet', version }, spans: spans.map(toSpan) }],
      },
    ],
  });
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal,
      redirect: 'error',
    });
    await answer.body?.cancel();
    if (answer.ok) return undefined;
    return { reason: `status ${answer.status}`, again: [429, 502, 503, 504].includes(answer.status) };
  } catch (error) {
    // The message of an error of `fetch` names at most the address.
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return { reason: cause instanceof Error ? cause.message : String(cause), again: true };
  }
}

function toSpan({ traceId, spanId, parentSpanId, name, kind, from, to, attributes, error }: Span): object {
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(from),
    endTimeUnixNano: nanoseconds(to),
    attributes: toAttributes({ ...attributes, 'error.type': error }),
    status: error === undefined ? {} : { code: 2 },
  };
}

/** Nanoseconds as a string, because the number is too large for a number. */
function nanoseconds(ms: number): string {
  return `${Math.floor(ms)}${String(Math.floor((ms % 1) * 1_000_000)).padStart(6, '0')}`;
}

function toAttributes(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    return value === undefined ? [] : [{ key, value: toValue(value) }];
  });
}

function toValue(value: AttributeValue): object {
  if (typeof value === 'number') return { intValue: String(Math.round(value)) };
  if (typeof value === 'object' && 'seconds' in value) return { doubleValue: value.seconds };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return { arrayValue: { values: value.map(toValue) } };
}
