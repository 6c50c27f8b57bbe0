import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import type { Frame } from './send-stream.ts';
import type { StreamEvent } from './stream-events.ts';

/** The platform of somebody else on which a Messages server runs. */
export type Cloud = 'bedrock' | 'vertex';

/** A request as the platform takes it, in the words of the Messages API; or what the platform says against it. */
export type CloudRequest =
  | Readonly<{ body: Readonly<Record<string, unknown>>; version: string }>
  | Readonly<{ status: number; kind: string; message: string }>;

const bedrockPath = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream)$/;
const vertexPath =
  /^\/projects\/([^/]+)\/locations\/([^/]+)\/publishers\/anthropic\/models\/([^/:]+):(rawPredict|streamRawPredict)$/;

/**
 * Reads the wire form of Bedrock's InvokeModel and InvokeModelWithResponseStream (docs.aws.amazon.com/bedrock/latest/APIReference)
 * or Vertex's rawPredict and streamRawPredict (cloud.google.com/vertex-ai/generative-ai/docs/partner-models/use-claude): the
 * model and the streaming are in the path, the version in the body.
 */
export function readCloud(
  cloud: Cloud,
  { url, headers, json }: Readonly<{ url: string; headers: IncomingHttpHeaders; json: unknown }>,
): CloudRequest {
  const [path = ''] = url.split('?');
  const { anthropic_version, ...given } = json as Readonly<Record<string, unknown>>;
  if (cloud === 'bedrock') {
    const [, model, verb] = bedrockPath.exec(path) ?? [];
    if (model === undefined)
      return { status: 404, kind: 'UnknownOperationException', message: `no operation at ${path}` };
    const wrong = wrongSignature(headers);
    if (wrong !== undefined) return { status: 403, ...wrong };
    for (const key of ['model', 'stream'])
      if (key in given)
        return {
          status: 400,
          kind: 'ValidationException',
          message: `${key}: Extra inputs are not permitted`,
        };
    const stream = verb === 'invoke-with-response-stream';
    return versioned({ ...given, model: decodeURIComponent(model), stream }, anthropic_version);
  }
  const [, project, , model, verb] = vertexPath.exec(path) ?? [];
  if (project === undefined || model === undefined)
    return {
      status: 404,
      kind: 'NOT_FOUND',
      message: `The requested URL ${path} was not found on this server.`,
    };
  if (!/^Bearer ya29\./.test(headers.authorization ?? ''))
    return {
      status: 401,
      kind: 'UNAUTHENTICATED',
      message: 'Request had invalid authentication credentials. Expected OAuth 2 access token.',
    };
  if ('model' in given)
    return { status: 400, kind: 'INVALID_ARGUMENT', message: 'model: Extra inputs are not permitted' };
  const isStream = verb === 'streamRawPredict';
  if ((given['stream'] ?? false) !== isStream)
    return { status: 400, kind: 'INVALID_ARGUMENT', message: `stream does not fit ${verb ?? ''}` };
  return versioned({ ...given, model: decodeURIComponent(model) }, anthropic_version);
}

function versioned(body: Readonly<Record<string, unknown>>, version: unknown): CloudRequest {
  if (typeof version === 'string') return { body, version };
  return { status: 400, kind: 'ValidationException', message: 'anthropic_version: Field required' };
}

/** What AWS says of a request without Signature Version 4 for Bedrock, or without a Bedrock key. */
function wrongSignature(
  headers: IncomingHttpHeaders,
): Readonly<{ kind: string; message: string }> | undefined {
  const { authorization = '' } = headers;
  if (/^Bearer ./.test(authorization)) return undefined;
  if (authorization === '')
    return { kind: 'MissingAuthenticationTokenException', message: 'Missing Authentication Token' };
  const [, key, scope, signed = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=[0-9a-f]{64}$/.exec(
      authorization,
    ) ?? [];
  const isScope = /^\d{8}\/[a-z0-9-]+\/bedrock\/aws4_request$/.test(scope ?? '');
  const isDated = typeof headers['x-amz-date'] === 'string' && signed.split(';').includes('x-amz-date');
  if (key === undefined || !isScope || !isDated)
    return {
      kind: 'IncompleteSignatureException',
      message: `Authorization header is incomplete: ${authorization}`,
    };
  return key === 'AKIAREFUSED'
    ? {
        kind: 'UnrecognizedClientException',
        message: 'The security token included in the request is invalid.',
      }
    : undefined;
}

/** An event as Bedrock sends it: a message of AWS's event stream with the event in base64. */
export function bedrockFrame(event: StreamEvent): Frame {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64');
  const text = eventMessage(
    { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify({ bytes }),
  );
  return { held: event.type === 'message_delta', text };
}

/** An exception in the middle of a stream, as Bedrock sends it. */
export function bedrockException({ type, message }: Readonly<{ type: string; message: string }>): Frame {
  const kind = type === 'rate_limit_error' ? 'throttlingException' : 'modelStreamErrorException';
  const text = eventMessage(
    { ':exception-type': kind, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify({ message }),
  );
  return { held: false, text };
}

/**
 * A message of `application/vnd.amazon.eventstream`: lengths, headers, payload and two checksums
 * (docs.aws.amazon.com/lexv2/latest/dg/event-stream-encoding.html).
 */
function eventMessage(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const encoded = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(value));
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ]);
    }),
  );
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + encoded.length + body.length, 0);
  prelude.writeUInt32BE(encoded.length, 4);
  const head = Buffer.concat([prelude, checksum(prelude), encoded, body]);
  return Buffer.concat([head, checksum(head)]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
