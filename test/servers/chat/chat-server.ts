import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer } from '../../../src/lib/net/node-http.ts';
import type { ServerStep, Wire } from '../messages/answer.ts';
import { parseJson, readBody, type MessagesServer, type Script } from '../messages/messages-server.ts';
import { sendEndless, sendRaw, sendStream } from '../messages/send-stream.ts';
import { asMessages } from './as-messages.ts';
import { chatFrames, wholeChat, type ChatAnswer, type Loose } from './chat-chunks.ts';
import { parseChat, type ChatRequest } from './chat-shape.ts';
import { checkChat, type Like } from './check-chat.ts';
import type { Refusal } from './refusal.ts';

export type ChatServer = MessagesServer &
  Readonly<{
    /** The bodies of the good requests, as they came. */
    bodies: readonly ChatRequest[];
  }>;

const types: Readonly<Record<number, string>> = {
  429: 'rate_limit_error',
  402: 'insufficient_quota',
  503: 'server_error',
};

/**
 * A server of Chat Completions on loopback that refuses what OpenAI refuses, in its words (M17, H9), with the sources
 * beside the checks. It takes the scripts of the Messages server and shows requests in its words. `like` and `loose` make
 * it another server than OpenAI's.
 */
export async function startChatServer(options: {
  script: Script;
  /** The key to insist on; default: any. `none`: no key is needed. */
  apiKey?: string;
  models?: readonly string[];
  wire?: Wire;
  like?: Like;
  loose?: Loose;
  /** Below this path; default `/v1`. */
  base?: string;
  /** What the server does not know: asked with one of them it refuses. */
  unknown?: readonly string[];
}): Promise<ChatServer> {
  const { script, like = 'openai', loose = {}, base = '/v1', unknown = [] } = options;
  const requests: MessagesServer['requests'][number][] = [];
  const bodies: ChatRequest[] = [];
  const refused: { status: number; message: string }[] = [];
  const seen: string[] = [];
  let ids = 0;

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.headersSent) sendError(response, 500, { message: String(error), type: 'server_error' });
      else response.destroy();
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('x-request-id', `req_${++ids}`);
    const refuse = (status: number, refusal: Refusal): void => {
      refused.push({ status, message: refusal.message });
      sendError(response, status, refusal);
    };
    const raw = await readBody(request);
    const arrivedAt = performance.now();
    const path = request.url?.split('?')[0] ?? '';
    if (request.method !== 'POST' || path !== `${base}/chat/completions`)
      return refuse(404, { message: `Invalid URL (${request.method ?? ''} ${path})` });
    const wrongKey = checkKey(request.headers.authorization, options.apiKey);
    if (wrongKey !== undefined) return refuse(401, wrongKey);
    const json = parseJson(raw);
    if (json === undefined)
      return refuse(400, {
        message:
          "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)",
      });
    const stranger = unknown.find((name) => Object.hasOwn(json as object, name));
    if (stranger !== undefined)
      return refuse(400, { message: `Unrecognized request argument supplied: ${stranger}` });
    const parsed = parseChat(json, like === 'openai');
    if ('wrong' in parsed) return refuse(400, parsed.wrong);
    const chat = parsed.request;
    if (options.models !== undefined && !options.models.includes(chat.model))
      return refuse(404, {
        message: `The model \`${chat.model}\` does not exist or you do not have access to it.`,
        code: 'model_not_found',
      });
    const wrong = checkChat(chat, like);
    if (wrong !== undefined) return refuse(wrong.status ?? 400, wrong);
    const body = asMessages(chat);
    // A prefix that was here before is cached, in steps of 128 tokens from 1024 on.
    const written = JSON.stringify([chat.tools, chat.messages]);
    const known = Math.max(0, ...seen.map((before) => shared(before, written)));
    const cached = estimate(known) >= 1024 ? Math.floor(estimate(known) / 128) * 128 : 0;
    const prompt = estimate(written.length);
    seen.push(written);
    const usage = {
      input_tokens: prompt - cached,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: 0,
    };
    const index = requests.push({ arrivedAt, headers: request.headers, body, usage, dropped: [] }) - 1;
    bodies.push(chat);
    const step = typeof script === 'function' ? await script(body, index) : script[index];
    if (step === undefined)
      return refuse(400, { message: `the script has no answer to request ${index + 1}` });
    await answer(step, { chat, prompt, cached }, response);
  }

  async function answer(
    step: ServerStep,
    asked: Readonly<{ chat: ChatRequest; prompt: number; cached: number }>,
    response: ServerResponse,
  ): Promise<void> {
    if (typeof step === 'string') return answer({ content: [{ type: 'text', text: step }] }, asked, response);
    if ('reset' in step) return void response.socket?.resetAndDestroy();
    if ('raw' in step) return sendRaw(response, step);
    if ('endless' in step) return sendEndless(response, step);
    if ('status' in step) {
      for (const [name, value] of Object.entries(step.headers ?? {})) response.setHeader(name, value);
      const { status, type, message = 'scripted' } = step;
      return sendError(response, status, { message, ...(type === undefined ? {} : { code: type }) });
    }
    const wire = { ...options.wire, ...step.wire };
    if (wire.delayMs !== undefined) await delay(wire.delayMs);
    const { chat, prompt, cached } = asked;
    const content = step.content.map((block) =>
      block.type === 'tool_use'
        ? { ...block, id: block.id ?? `call_${String(++ids).padStart(4, '0')}` }
        : block,
    );
    const completion = Math.ceil(JSON.stringify(content).length / 4);
    const full: ChatAnswer = {
      id: `chatcmpl-${++ids}`,
      model: chat.model,
      content,
      stopReason:
        step.stopReason ?? (content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'),
      ...(chat.stream !== true || chat.stream_options?.include_usage === true || like === 'mistral'
        ? { usage: { prompt, cached, completion } }
        : {}),
      loose,
    };
    if (chat.stream !== true || loose.noStream === true) return sendJson(response, 200, wholeChat(full));
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    await sendStream(response, chatFrames(full), wire, ({ type, message }) => ({
      held: false,
      text: `data: ${JSON.stringify({ error: { message, type, param: null, code: type } })}\n\n`,
    }));
  }

  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${base}`,
    requests,
    bodies,
    refused,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function checkKey(header: string | undefined, wanted: string | undefined): Refusal | undefined {
  if (wanted === 'none') return undefined;
  const [, key] = /^Bearer (.+)$/.exec(header ?? '') ?? [];
  if (key === undefined)
    return {
      message:
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    };
  if (wanted === undefined || key === wanted) return undefined;
  return {
    message: `Incorrect API key provided: ${key.slice(0, 3)}***. You can find your API key at https://platform.openai.com/account/api-keys.`,
    code: 'invalid_api_key',
  };
}

/** A token is four characters here. */
function estimate(characters: number): number {
  return Math.ceil(characters / 4);
}

/** How many characters two texts share at their beginning. */
function shared(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

function sendError(response: ServerResponse, status: number, { message, type, param, code }: Refusal): void {
  sendJson(response, status, {
    error: {
      message,
      type: type ?? types[status] ?? 'invalid_request_error',
      param: param ?? null,
      code: code ?? null,
    },
  });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
