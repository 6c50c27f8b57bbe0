import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '../../../src/lib/net/node-http.ts';
import { createDelivery, type Delivered, type DeliveryKnobs } from './delivery.ts';
import type { Json } from './event-payloads.ts';
import { createFaults, type Faults } from './faults.ts';
import { createHttpSender } from './http-sender.ts';
import { manifest } from './manifest.ts';
import type { MethodContext } from './method-context.ts';
import { createPeople, type People } from './people.ts';
import { createRateLimits } from './rate-limits.ts';
import { createResponseUrls } from './response-urls.ts';
import { createSocketHub, type SocketHub } from './socket-hub.ts';
import { createSentFiles, type SentFile } from './sent-files.ts';
import { createViews, type OpenView } from './views.ts';
import { createWatch, type Watch } from './watch.ts';
import { readBody, serveApi, type ApiCall } from './web-api.ts';
import { createWorkspace, type SlackRoom, type StoredMessage, type Workspace } from './workspace.ts';

/** A change of the bot's own messages. */
export type BotMessage = Readonly<{ kind: 'posted' | 'updated' | 'deleted'; message: StoredMessage }>;

export type SlackServerOptions = Partial<
  DeliveryKnobs & {
    /** Its address as a proxy knows it, such as `http://slack.invalid`; default: on this machine. */
    named: string;
    /** Keep the rate tiers, one message a second a channel among them. */
    strictRates: boolean;
    /** Messages that a channel takes at once when rates are strict. */
    burst: number;
    /** Scopes of the bot token; all that the manifest asks for by default. */
    scopes: readonly string[];
    /** Bot events that the app is subscribed to; all of the manifest by default. */
    events: readonly string[];
    now: () => number;
  }
>;

/**
 * A strict Slack for tests: one workspace with the Web API, Socket Mode and HTTP events, on a port of the loopback.
 *
 *     const slack = await startSlackServer();
 *     const channel = createSlack({ apiUrl: slack.url, botToken: slack.tokens.bot, appToken: slack.tokens.app, … });
 *     await channel.start(onEvent);
 *     const anna = slack.workspace.addUser('anna');
 *     const room = slack.workspace.addRoom('channel', { members: [anna.id] });   // 'group' is a private channel
 *     const asked = slack.people.mention(anna, room, 'what time is it?');        // both twins are delivered
 *     const answer = await slack.posted((message) => message.threadTs === asked.ts);
 *     await asked.delivered;                                                     // every event was acknowledged
 *     await slack.people.press(anna, answer, 'Approve');
 *     await channel.stop();
 *     await slack.close();
 *
 * - `people` act; `posted`, `changes`, `calls`, `shown` and `delivered` tell what came of it and can be awaited.
 * - `faults` make calls fail: `slack.faults.next('chat.postMessage', { kind: 'cut', when: 'after' })`.
 * - `knobs` change deliveries at any time: order and gap of twins, duplicates, retries, holding back and reordering.
 * - `socket` tells of connections and ends them; `deliverTo(url)` switches to signed HTTP deliveries.
 */
export type SlackServer = Readonly<{
  /** Base of the Web API. */
  url: string;
  port: number;
  tokens: Readonly<{ bot: string; app: string }>;
  signingSecret: string;
  workspace: Workspace;
  people: People;
  knobs: DeliveryKnobs;
  faults: Faults;
  socket: SocketHub;
  /** Posts events to this address from now on, instead of the sockets. */
  deliverTo(url: string): void;
  /** A message of the bot, past or to come, as it was posted or as it was changed: an answer may take the place of a line. */
  posted(matches?: (message: StoredMessage) => boolean): Promise<StoredMessage>;
  /** Everything the bot did to its messages. */
  changes: Watch<BotMessage>;
  /** Every Web API call. */
  calls: Watch<ApiCall>;
  /** Status lines, ephemeral words, reactions, answers at a response_url. */
  shown: Watch<Json>;
  /** Modals that the bot opened. */
  views: Watch<OpenView>;
  /** Home tabs that the bot published. */
  homes: Watch<OpenView>;
  /** Every event that was acknowledged or given up. */
  delivered: Watch<Delivered>;
  /** Ends `knobs.held`. */
  release(reorder?: Parameters<ReturnType<typeof createDelivery>['release']>[0]): void;
  /** Resolves when no event is under way. */
  idle(): Promise<void>;
  /** A file that a person sends: give what this returns to `people.dm`, `post` or `mention`. */
  sentFile(file: SentFile): Json;
  /** The bytes of a file that the bot uploaded. */
  bytesOf(file: string): Buffer | undefined;
  /** A fresh address at which a call may be answered: five times within 30 minutes. */
  responseUrl(channel: string): string;
  /** What a room looks like now: `user: text` of each message that is not deleted. */
  transcript(room: SlackRoom): readonly string[];
  close(): Promise<void>;
}>;

export async function startSlackServer(options: SlackServerOptions = {}): Promise<SlackServer> {
  const { strictRates = false, burst = 1, now = Date.now } = options;
  const workspace = createWorkspace('T0HOME');
  const tokens = { bot: 'xoxb-test-bot-token', app: 'xapp-test-app-token' };
  const signingSecret = 'test-signing-secret';
  const knobs: DeliveryKnobs = {
    twins: options.twins ?? 'message-first',
    twinGapMs: options.twinGapMs ?? 0,
    duplicates: options.duplicates ?? 0,
    retryDelaysMs: options.retryDelaysMs ?? [0, 1_000, 30_000],
    ackTimeoutMs: options.ackTimeoutMs ?? 60_000,
    held: options.held ?? false,
    atOnce: options.atOnce ?? Infinity,
  };
  const scopes = new Set(options.scopes ?? manifest.oauth_config.scopes.bot);
  const events = options.events ?? manifest.settings.event_subscriptions.bot_events;
  const faults = createFaults();
  const changes = createWatch<BotMessage>();
  const calls = createWatch<ApiCall>();
  const shown = createWatch<Json>();
  const state: { http?: string; base: string } = { base: '' };

  const server = createServer((request, response) => {
    route(request.url ?? '/', request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  // A test at work for seconds would lose its connections between two calls.
  server.keepAliveTimeout = 0;
  const socket = createSocketHub(server, workspace, knobs);
  const http = createHttpSender(() => state.http ?? '', signingSecret, knobs);
  const delivery = createDelivery(workspace, knobs, scopes, events, (...sent) =>
    state.http === undefined ? socket.transport(...sent) : http(...sent),
  );
  const views = createViews(now);
  const responseUrls = createResponseUrls(() => state.base, shown, now);
  const files: MethodContext['files'] = new Map();
  const sentFiles = createSentFiles(() => state.base, tokens.bot, scopes);
  const api = {
    tokens,
    scopes,
    faults,
    limits: createRateLimits(strictRates, burst),
    calls,
    context: {
      workspace,
      emit: (event) => void delivery.send([event]),
      changed: (change) => changes.add({ ...change, message: { ...change.message } }),
      shown: (item) => shown.add(item),
      tells: delivery.tells,
      socketUrl: () => socket.newUrl(state.base),
      uploadUrl: (id) => `${state.base}/upload/${id}`,
      files,
      sentFile: sentFiles.info,
      views,
      now,
    } satisfies MethodContext,
  };

  const route = async (
    path: string,
    request: Parameters<typeof serveApi>[0],
    response: Parameters<typeof serveApi>[1],
  ): Promise<void> => {
    if (path.startsWith('/api/')) return serveApi(request, response, api);
    if (path.startsWith('/response/')) return responseUrls.serve(request, response);
    if (sentFiles.serve(path, request, response))
      return void calls.add({
        method: 'download',
        args: { path },
        answer: response.statusCode,
        at: Date.now(),
      });
    const file = files.get(path.replace('/upload/', ''));
    if (file === undefined) return void response.writeHead(404).end();
    calls.add({ method: 'upload', args: {}, answer: 200, at: Date.now() });
    const fault = faults.take('upload');
    if (fault?.kind === 'hold') await fault.until;
    if (fault?.kind === 'ratelimited')
      return void response.writeHead(429, { 'retry-after': String(fault.retryAfter ?? 1) }).end();
    if (fault?.kind === 'status') return void response.writeHead(fault.status).end();
    if (fault?.kind === 'cut') return void request.socket.destroy();
    file.bytes = await fileOf(request, await readBody(request));
    response.writeHead(200).end(`OK - ${file.bytes.length}`);
  };

  await listen(server);
  const { port } = server.address() as AddressInfo;
  state.base = options.named ?? `http://127.0.0.1:${port}`;

  return {
    url: `${state.base}/api/`,
    port,
    tokens,
    signingSecret,
    workspace,
    people: createPeople(workspace, delivery, knobs, responseUrls, views),
    knobs,
    faults,
    socket,
    deliverTo(url) {
      state.http = url;
    },
    async posted(matches = () => true) {
      const { message } = await changes.until(
        (change) => change.kind !== 'deleted' && matches(change.message),
      );
      return message;
    },
    changes,
    calls,
    shown,
    views: views.opened,
    homes: views.published,
    delivered: delivery.delivered,
    release: (reorder) => delivery.release(reorder),
    idle: () => delivery.idle(),
    sentFile: sentFiles.add,
    bytesOf: (file) => files.get(file)?.bytes,
    responseUrl: (channel) => responseUrls.create(channel),
    transcript: (room) =>
      room.messages
        .filter(({ deleted }) => !deleted)
        .map(({ user, text }) => `${nameOf(workspace, user)}: ${text}`),
    async close() {
      socket.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The bytes may come as they are or as the one file of a form. */
async function fileOf(request: Parameters<typeof serveApi>[0], body: Buffer): Promise<Buffer> {
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data')) return body;
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const [file] = [...form.values()];
  return file === undefined || typeof file === 'string'
    ? Buffer.from(file ?? '')
    : Buffer.from(await file.arrayBuffer());
}

function nameOf(workspace: Workspace, user: string): string {
  return workspace.users.get(user)?.name ?? user;
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve());
  });
}
