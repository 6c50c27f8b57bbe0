import { skilletVersion } from '../../core/version.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createTracing } from './create-tracing.ts';
import { createSpanExport } from './export-spans.ts';
import type { Tracing } from './tracing.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Sends traces to the collector that OpenTelemetry's environment variables name, as OTLP over HTTP in JSON. Throws
 * OperatorError if the address is none.
 */
export function openTracing(env: Env, { clock, log }: Readonly<{ clock: Clock; log: Log }>): Tracing {
  const { OTEL_SERVICE_NAME, OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_TRACES_HEADERS } = env;
  const url = tracesUrl(env);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new OperatorError(
      'OTEL_EXPORTER_OTLP_ENDPOINT is no web address: write one such as http://127.0.0.1:4318',
    );
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  if (protocol !== undefined && protocol !== 'http/json')
    log.warn({ protocol }, 'traces are sent as http/json; OTEL_EXPORTER_OTLP_PROTOCOL is ignored');
  const version = skilletVersion();
  const spans = createSpanExport({
    url,
    headers: headersOf(OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    resource: { 'service.name': OTEL_SERVICE_NAME ?? 'skillet', 'service.version': version },
    version,
    log,
  });
  log.info({ host: new URL(url).host }, 'traces are sent');
  return createTracing(spans, clock);
}

export function tracesUrl(env: Env): string {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: exact, OTEL_EXPORTER_OTLP_ENDPOINT: base = '' } = env;
  return exact ?? `${base.replace(/\/+$/, '')}/v1/traces`;
}

/** Reads `name=value,name=value`, percent-encoded. Throws OperatorError if a value can't be decoded. */
function headersOf(list: string): Readonly<Record<string, string>> {
  const pairs = list.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      const value = pair.slice(at + 1).trim();
      return [pair.slice(0, at).trim(), decoded(value)];
    }),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // The value may be a credential, so it is not shown.
    throw new OperatorError("OTEL_EXPORTER_OTLP_HEADERS can't be read: write %25 where you mean a %");
  }
}
