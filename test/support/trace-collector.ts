import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { z } from 'zod';
import { createServer } from '../../src/lib/net/node-http.ts';

const id = (characters: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${characters}}$`));
const nanoseconds = z.string().regex(/^\d{19}$/);
const words = z.strictObject({ stringValue: z.string() });
const value = z.union([
  words,
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(words) }) }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
]);
const attributes = z.array(z.strictObject({ key: z.string().min(1), value }));
const span = z.strictObject({
  traceId: id(32),
  spanId: id(16),
  parentSpanId: id(16).optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: nanoseconds,
  endTimeUnixNano: nanoseconds,
  attributes,
  status: z.strictObject({ code: z.literal(2).optional() }),
});
const scope = z.strictObject({ name: z.string(), version: z.string() });
/** OTLP's JSON form, as far as a trace goes. */
const traces = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(z.strictObject({ scope, spans: z.array(span) })),
    }),
  ),
});

/** A span with its attributes by name, and the OTLP type of each. */
export type SeenSpan = Omit<z.infer<typeof span>, 'attributes'> &
  Readonly<{
    attributes: Readonly<Record<string, unknown>>;
    types: Readonly<Record<string, string | undefined>>;
    service: unknown;
  }>;

export type TraceCollector = Readonly<{
  url: string;
  spans: readonly SeenSpan[];
  headers: readonly IncomingHttpHeaders[];
  /** Everything that came, as it came. */
  bodies: readonly string[];
  /** Answers so many requests with 503. */
  fail(times: number): void;
}>;

/** An OTLP/HTTP collector that refuses what is not OTLP. */
export async function startTraceCollector(t: Pick<TestContext, 'after'>): Promise<TraceCollector> {
  const spans: SeenSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const bodies: string[] = [];
  let failures = 0;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (failures-- > 0) return response.writeHead(503).end();
      const isTrace = request.method === 'POST' && request.url === '/v1/traces';
      const parsed = traces.safeParse(isTrace ? JSON.parse(body) : undefined);
      if (!parsed.success) return response.writeHead(400).end(z.prettifyError(parsed.error));
      headers.push(request.headers);
      bodies.push(body);
      for (const { resource, scopeSpans } of parsed.data.resourceSpans)
        for (const one of scopeSpans.flatMap((each) => each.spans))
          spans.push({
            ...one,
            attributes: named(one.attributes),
            types: Object.fromEntries(one.attributes.map(({ key, value }) => [key, Object.keys(value)[0]])),
            service: named(resource.attributes)['service.name'],
          });
      return response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  // An idle connection that the server ends just as a request is sent would fail that request.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, headers, bodies, fail: (times) => (failures = times) };
}

function named(list: z.infer<typeof attributes>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}
