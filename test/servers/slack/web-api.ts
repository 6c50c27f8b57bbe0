import type { IncomingMessage, ServerResponse } from 'node:http';
import { chatMethods } from './chat-methods.ts';
import type { Json } from './event-payloads.ts';
import type { Fault, Faults } from './faults.ts';
import { fileMethods } from './file-methods.ts';
import { SlackRefusal, refuse, type MethodContext } from './method-context.ts';
import { slackMethods, type SlackMethod } from './method-table.ts';
import { otherMethods } from './other-methods.ts';
import type { RateLimits } from './rate-limits.ts';
import type { Watch } from './watch.ts';

/** One call as it came in, and what it was answered. */
export type ApiCall = Readonly<{ method: string; args: Json; answer: Json | 'cut' | number; at: number }>;

export type ApiOptions = Readonly<{
  tokens: Readonly<{ bot: string; app: string }>;
  /** Scopes of the bot token. */
  scopes: Set<string>;
  faults: Faults;
  limits: RateLimits;
  calls: Watch<ApiCall>;
  context: MethodContext;
}>;

/** Serves `/api/METHOD` as Slack does: errors with HTTP 200, limits with 429, nothing let through that Slack refuses. */
export async function serveApi(
  request: IncomingMessage,
  response: ServerResponse,
  options: ApiOptions,
): Promise<void> {
  const { faults, calls, limits } = options;
  const url = new URL(request.url ?? '/', 'http://x');
  const method = url.pathname.replace(/^\/api\//, '');
  const body = await readBody(request);
  const args = argumentsOf(request, url, body);
  const fault = faults.take(method);
  const record = (answer: ApiCall['answer']): void =>
    calls.add({ method, args: withoutToken(args), answer, at: Date.now() });

  if (fault !== undefined && (await failBefore(fault, request, response, record))) return;
  const wait = fault?.kind === 'ratelimited' ? (fault.retryAfter ?? 1) : limits.wait(method, args);
  if (wait > 0) {
    const answer = { ok: false, error: 'ratelimited' };
    record(answer);
    send(response, 429, answer, { 'retry-after': String(wait) });
    return;
  }
  const answer = answerTo(method, args, tokenOf(request, args), fault, options);
  record(fault?.kind === 'cut' ? 'cut' : answer);
  if (fault?.kind === 'late') await new Promise((resolve) => setTimeout(resolve, fault.ms).unref());
  if (fault?.kind === 'cut') request.socket.destroy();
  else send(response, 200, answer, { 'x-oauth-scopes': [...options.scopes].join(',') });
}

/** True when the call ends here. */
async function failBefore(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
  record: (answer: ApiCall['answer']) => void,
): Promise<boolean> {
  if (fault.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
  if (fault.kind === 'hold') await fault.until;
  if (fault.kind === 'status') {
    record(fault.status);
    response.writeHead(fault.status, { 'content-type': 'text/html' }).end('<html>server error</html>');
    return true;
  }
  if (fault.kind === 'cut' && fault.when === 'before') {
    record('cut');
    request.socket.destroy();
    return true;
  }
  return false;
}

function answerTo(
  method: string,
  args: Json,
  token: string,
  fault: Fault | undefined,
  { tokens, scopes, context }: ApiOptions,
): Json {
  try {
    const known = slackMethods[method];
    const handler = chatMethods[method] ?? fileMethods[method] ?? otherMethods[method];
    if (known === undefined || handler === undefined) return refuse('unknown_method');
    checkToken(method, token, tokens);
    checkScopes(known, scopes);
    if (fault?.kind === 'error') return refuse(fault.error);
    checkArguments(known, args);
    return { ok: true, ...handler(args, context) };
  } catch (error) {
    if (error instanceof SlackRefusal) return { ok: false, error: error.message, ...error.more };
    throw error;
  }
}

function checkToken(method: string, token: string, tokens: ApiOptions['tokens']): void {
  if (token === '') refuse('not_authed');
  if (token !== tokens.bot && token !== tokens.app) refuse('invalid_auth');
  const wanted = method === 'apps.connections.open' ? tokens.app : tokens.bot;
  if (token !== wanted) refuse('not_allowed_token_type');
}

function checkScopes(known: SlackMethod, scopes: Set<string>): void {
  if (known.scopes.length === 0 || known.scopes.some((scope) => scopes.has(scope))) return;
  throw new SlackRefusal('missing_scope', {
    needed: known.scopes.join(','),
    provided: [...scopes].join(','),
  });
}

/** Slack lets a few unknown arguments pass; a bot that sends one has a typo, so here none does. */
function checkArguments(known: SlackMethod, args: Json): void {
  const missing = known.required.filter((name) => args[name] === undefined || args[name] === null);
  const empty = known.required.filter((name) => args[name] === '' && name !== 'status' && name !== 'text');
  const allowed = [...known.required, ...known.optional, 'token', 'team_id'];
  const unknown = Object.keys(args).filter((name) => !allowed.includes(name));
  const problems = [
    ...[...missing, ...empty].map((name) => `[ERROR] missing required field: ${name}`),
    ...unknown.map((name) => `[ERROR] unexpected field: ${name}`),
  ];
  if (problems.length > 0) refuse('invalid_arguments', problems);
}

function argumentsOf(request: IncomingMessage, url: URL, body: Buffer): Json {
  const query = Object.fromEntries(url.searchParams);
  const type = request.headers['content-type'] ?? '';
  if (body.length === 0) return query;
  if (type.startsWith('application/json')) return { ...query, ...(JSON.parse(body.toString()) as Json) };
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return { ...query, ...Object.fromEntries(new URLSearchParams(body.toString())) };
  }
  return query;
}

function tokenOf(request: IncomingMessage, args: Json): string {
  const header = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  return header ?? (typeof args['token'] === 'string' ? args['token'] : '');
}

function withoutToken({ token: _, ...args }: Json): Json {
  return args;
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function send(
  response: ServerResponse,
  status: number,
  answer: Json,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(answer));
}
