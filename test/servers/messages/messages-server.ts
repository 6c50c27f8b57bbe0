import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer } from '../../../src/lib/net/node-http.ts';
import { errorTypeOf, type ServerStep, type Wire } from './answer.ts';
import { bedrockException, bedrockFrame, readCloud, type Cloud } from './cloud-wire.ts';
import { checkFiles } from './check-files.ts';
import { checkMessages } from './check-messages.ts';
import { checkServerTools } from './check-server-tools.ts';
import { asModelSays, checkModelSettings } from './check-model-settings.ts';
import { createPromptCache, type CacheUsage } from './prompt-cache.ts';
import { isVersion, parseRequest, type MessagesRequest } from './request-shape.ts';
import { messagesFrames, sendEndless, sendRaw, sendStream } from './send-stream.ts';
import { streamEvents, wholeMessage, type FullAnswer } from './stream-events.ts';
import { createThinkingSignatures, type Dropped, type Mismatch } from './thinking-signatures.ts';

/** A request that the server took; those it refused are not counted. */
export type SeenRequest = Readonly<{
  /** When all of it was here, before it was checked; by `performance.now()`. */
  arrivedAt: number;
  headers: IncomingHttpHeaders;
  body: MessagesRequest;
  usage: CacheUsage;
  /** Thinking that it held and the model was not shown. */
  dropped: readonly Dropped[];
}>;

export type MessagesServer = Readonly<{
  /** For `base_url`: without `/v1`. */
  url: string;
  requests: readonly SeenRequest[];
  /** What was refused with 4xx before the script was asked: status and message. */
  refused: readonly Readonly<{ status: number; message: string }>[];
  close(): Promise<void>;
}>;

export type Script =
  readonly ServerStep[] | ((request: MessagesRequest, index: number) => ServerStep | Promise<ServerStep>);

type Asked = Readonly<{
  body: MessagesRequest;
  account: string;
  usage: CacheUsage;
  dropped: readonly Dropped[];
  tellsDropped: boolean;
}>;

type Taken = Readonly<{
  json: unknown;
  version: string;
  arrivedAt: number;
  key: string | undefined;
  refuse(status: number, message: string): void;
}>;

const controls = 'thinking-binding-controls-2026-08-01';
const bodyLimit = 32 * 1024 * 1024;

/**
 * A Messages API server on loopback that refuses what the real one refuses, with the same error bodies (H9). Each good
 * request takes the next step of the script; a list that has run out answers 400 and says so.
 */
export async function startMessagesServer(options: {
  script: Script;
  /** The key to insist on; default: any. */
  apiKey?: string;
  /** Model ids that exist; default: any. */
  models?: readonly string[];
  /** The time of the cache, in milliseconds. Default: the real one. */
  now?: () => number;
  /** Tokens below which nothing is cached. */
  minCacheTokens?: number;
  /** How every answer goes over the wire, where its step says nothing. */
  wire?: Wire;
  /** As local servers are: no key, no version check, no cache counts, no pings, no request ids. */
  lean?: boolean;
  /** For thinking behind another conversation than its own; default: `error`, as for new accounts. */
  mismatch?: Mismatch;
  /** It speaks the wire form of this platform. */
  cloud?: Cloud;
}): Promise<MessagesServer> {
  const { script, lean = false, cloud } = options;
  const cache = createPromptCache({
    minTokens: options.minCacheTokens ?? 1024,
    now: options.now ?? Date.now,
  });
  /** What each answer's request began with, for diagnostics. */
  const starts = new Map<string, MessagesRequest>();
  const signatures = createThinkingSignatures(options.mismatch ?? 'error');
  const requests: SeenRequest[] = [];
  const refused: { status: number; message: string }[] = [];
  let ids = 0;

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.headersSent) sendError(response, 500, 'api_error', String(error), cloud);
      else response.destroy();
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!lean) response.setHeader('request-id', `req_${++ids}`);
    const refuse = (status: number, message: string, kind = errorTypeOf(status)): void => {
      refused.push({ status, message });
      sendError(response, status, kind, message, cloud);
    };
    const raw = await readBody(request);
    const arrivedAt = performance.now();
    if (cloud !== undefined) {
      const read = readCloud(cloud, {
        url: request.url ?? '',
        headers: request.headers,
        json: parseJson(raw),
      });
      if ('status' in read) return refuse(read.status, read.message, read.kind);
      return take(request, response, { json: read.body, version: read.version, arrivedAt, key: '', refuse });
    }
    if (request.method !== 'POST' || request.url?.split('?')[0] !== '/v1/messages')
      return refuse(404, 'Not found');
    const key = request.headers['x-api-key'] ?? request.headers.authorization?.replace(/^Bearer /, '');
    if (!lean && (key === undefined || (options.apiKey !== undefined && key !== options.apiKey))) {
      return refuse(401, 'invalid x-api-key');
    }
    if (raw.length > bodyLimit) return refuse(413, 'Request exceeds the maximum size');
    const version = lean ? '2023-06-01' : String(request.headers['anthropic-version'] ?? '');
    if (version === '') return refuse(400, 'anthropic-version: header is required');
    const json = parseJson(raw);
    if (json === undefined) return refuse(400, 'The request body is not valid JSON');
    await take(request, response, {
      json,
      version,
      arrivedAt,
      key: key === undefined ? undefined : String(key),
      refuse,
    });
  }

  /** Checks and answers a request that came to the right place. */
  async function take(
    request: IncomingMessage,
    response: ServerResponse,
    { json, version, arrivedAt, key, refuse }: Taken,
  ): Promise<void> {
    if (!isVersion(version)) return refuse(400, `anthropic-version: "${version}" is not a valid version`);
    const parsed = parseRequest(json, version);
    if ('wrong' in parsed) return refuse(400, parsed.wrong);
    const body = parsed.request;
    if (options.models !== undefined && !options.models.includes(body.model)) {
      return refuse(404, `model: ${body.model}`);
    }
    const betas = String(request.headers['anthropic-beta'] ?? '').split(',');
    const wrong =
      checkMessages(body) ?? checkServerTools(body) ?? checkFiles(body) ?? checkModelSettings(body, betas);
    if (wrong !== undefined) return refuse(400, wrong);
    const account = String(key ?? '');
    const checked = signatures.check(body, account);
    if ('refused' in checked) return refuse(400, checked.refused);

    const usage = cache.count(checked.request);
    const { dropped } = checked;
    const index = requests.push({ arrivedAt, headers: request.headers, body, usage, dropped }) - 1;
    const step = typeof script === 'function' ? await script(body, index) : script[index];
    if (step === undefined) return refuse(400, `the script has no answer to request ${index + 1}`);
    await answer(step, { body, account, usage, dropped, tellsDropped: betas.includes(controls) }, response);
  }

  async function answer(step: ServerStep, asked: Asked, response: ServerResponse): Promise<void> {
    const { body, account, usage } = asked;
    if (typeof step === 'string') return answer({ content: [{ type: 'text', text: step }] }, asked, response);
    if ('reset' in step) return void response.socket?.resetAndDestroy();
    if ('raw' in step) return sendRaw(response, step);
    if ('endless' in step) return sendEndless(response, step);
    if ('status' in step) {
      for (const [name, value] of Object.entries(step.headers ?? {})) response.setHeader(name, value);
      return sendError(
        response,
        step.status,
        step.type ?? errorTypeOf(step.status),
        step.message ?? 'scripted',
        cloud,
      );
    }
    const wire = { ...(lean ? { pings: false } : {}), ...options.wire, ...step.wire };
    if (wire.delayMs !== undefined) await delay(wire.delayMs);
    const named = asModelSays(step.content, body).map((block) =>
      block.type === 'text' || block.type === 'thinking' || 'tool_use_id' in block
        ? block
        : { ...block, id: block.id ?? `toolu_${String(++ids).padStart(4, '0')}` },
    );
    const content = signatures.sign(named, body, account);
    const full: FullAnswer = {
      id: `msg_${++ids}`,
      model: body.model,
      content,
      stopReason:
        step.stopReason ?? (content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'),
      usage: lean ? { input_tokens: usage.input_tokens } : usage,
      outputTokens: Math.ceil(JSON.stringify(content).length / 4),
      ...(body.diagnostics === undefined
        ? {}
        : {
            diagnostics: {
              cache_miss_reason: missReason(body, starts.get(body.diagnostics?.previous_message_id ?? '')),
            },
          }),
      ...(asked.tellsDropped ? { dropped: asked.dropped } : {}),
    };
    starts.set(full.id, body);
    if (body.stream !== true) return sendJson(response, 200, wholeMessage(full));
    if (cloud === 'bedrock') {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      return sendStream(response, streamEvents(full).map(bedrockFrame), wire, bedrockException);
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
    });
    await sendStream(response, messagesFrames(streamEvents(full), wire), wire);
  }

  // An idle connection that the server ends just as a request is sent would fail that request.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    refused,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Why a cache can't hold what an earlier request began with. */
function missReason(now: MessagesRequest, before: MessagesRequest | undefined): object | null {
  if (now.diagnostics?.previous_message_id == null) return null;
  if (before === undefined) return { type: 'previous_message_not_found' };
  const of = ({ model, system, tools }: MessagesRequest) => ({ model, system, tools });
  const [one, other] = [of(now), of(before)];
  const changed = (['model', 'system', 'tools'] as const).find(
    (part) => JSON.stringify(one[part]) !== JSON.stringify(other[part]),
  );
  return changed === undefined
    ? { type: 'unavailable' }
    : { type: `${changed}_changed`, cache_missed_input_tokens: 0 };
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function parseJson(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString());
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function sendError(
  response: ServerResponse,
  status: number,
  type: string,
  message: string,
  cloud: Cloud | undefined,
): void {
  if (cloud === 'bedrock') {
    response.setHeader('x-amzn-errortype', `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`);
    return sendJson(response, status, { message });
  }
  if (cloud === 'vertex')
    return sendJson(response, status, { error: { code: status, message, status: type } });
  const requestId = response.getHeader('request-id');
  sendJson(response, status, {
    type: 'error',
    error: { type, message },
    ...(requestId ? { request_id: requestId } : {}),
  });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
