/**
 * A strict Bot API server for tests (H9). It refuses what the real one refuses, with the same words, and a little more:
 * an argument nobody knows is an error here. It answers on the loopback; whoever starts it closes it.
 *
 *     await using server = await startTelegramServer({ privacy: false });   // or close() it
 *     // … start a bot with { token: server.token, apiRoot: server.url }
 *     const ann = server.person({ name: 'Ann' });
 *     const group = server.group({ title: 'Friends' });
 *     ann.says('hello');                                        // in her chat with the bot
 *     ann.says('@test_bot hi', { in: group });                  // needs privacy: false, as in real life
 *     const answer = await ann.dm.nextMessage();                // waits; also nextMessage('part of it') or a RegExp
 *     ann.presses(answer.id, 'Approve');
 *     await server.until('typing', () => group.actions()[0]);   // waits for anything
 *
 * What is modelled: token and argument checks; long polling (offsets, 24 h expiry, both kinds of 409, sticky
 * allowed_updates, hurried pollers) and webhooks (secret, retries, per chat only the head of the queue); privacy mode
 * (on by default: mentions are not delivered); HTML with the platform's parse errors; entities in UTF-16 units; limits
 * of text, buttons and menus; flood limits; "not modified"; topics, closed and deleted ones; migration; blocked, kicked,
 * muted; anonymous admins; presses that are answered too late; ephemeral messages and commands. `faults.add` makes calls slow, refused or cut off.
 * Waiting is by promise: `until` is asked again after every event and fails after `patienceMs` saying what it waited for.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { User, UserFromGetMe } from 'grammy/types';
import { systemClock, type Clock } from '../../../src/lib/clock.ts';
import { createServer } from '../../../src/lib/net/node-http.ts';
import { BotApiError } from './bot-api-error.ts';
import { checkArguments } from './check-arguments.ts';
import { createWebhookDelivery } from './deliver-webhook.ts';
import { createFaults, meet, type Faults } from './faults.ts';
import { createFlood } from './flood.ts';
import { ephemeralMethods } from './methods-ephemeral.ts';
import { botMethods } from './methods-bot.ts';
import { fileMethods } from './methods-files.ts';
import { messageMethods } from './methods-messages.ts';
import { createUpdateMethods } from './methods-updates.ts';
import { createPerson, type Person } from './person.ts';
import { readCall, type Arguments, type Files } from './read-call.ts';
import { createChat, type Chat } from './room.ts';
import { getFile, serveFile } from './serve-file.ts';
import { createUpdateQueue, type UpdateQueue } from './update-queue.ts';
import { createWaiting } from './waiting.ts';
import { createWorld, type Room } from './world.ts';

export type TelegramServerOptions = Readonly<{
  token?: string;
  /** `test_bot` by default. */
  username?: string;
  /** Privacy mode; on by default, as with the platform. */
  privacy?: boolean;
  /** Flood limits; on by default. */
  flood?: boolean;
  clock?: Clock;
  /** Pause before the second retry of a webhook call; 1000 by default. */
  webhookRetryMs?: number;
  /** How long `until` and `nextMessage` wait; 60,000 by default: a machine may have much else to do. */
  patienceMs?: number;
}>;

/** One request the bot made, and what it was answered. */
export type RecordedCall = Readonly<{
  /** As it was spelt. */
  method: string;
  args: Arguments;
  /** Milliseconds since 1970. */
  at: number;
  answer?: Readonly<Record<string, unknown>>;
}>;

export type TelegramServer = AsyncDisposable &
  Readonly<{
    /** Give it as `apiRoot`. */
    url: string;
    token: string;
    me: UserFromGetMe;
    faults: Faults;
    /** Updates that wait for the bot, and what can be done to them. */
    queue: UpdateQueue;
    /** Every request so far; `calls('sendMessage')` those of one method. */
    calls(method?: string): readonly RecordedCall[];
    /** Ids of the files that were downloaded, each time. */
    downloads: readonly string[];
    /** Menus by scope, as they were set. */
    menus(): ReadonlyMap<string, readonly unknown[]>;
    /** `language`: tag of their client's, such as `de`. */
    person(
      about?: Readonly<{ name?: string; username?: string; id?: number; isBot?: boolean; language?: string }>,
    ): Person;
    /** A supergroup unless `type` says `group`; the bot is a member. */
    group(about?: Readonly<{ title?: string; type?: 'group' | 'supergroup'; forum?: boolean }>): Chat;
    channel(about?: Readonly<{ title?: string }>): Chat;
    /** Resolves with what `check` gives as soon as it gives something. */
    until<T>(what: string, check: () => T | undefined | false): Promise<T>;
    close(): Promise<void>;
  }>;

export async function startTelegramServer(options: TelegramServerOptions = {}): Promise<TelegramServer> {
  const { clock = systemClock, token = '123456789:AAtestTokenOfTheStrictServer_0123456' } = options;
  const me = botUser(token, options);
  const waiting = createWaiting(options.patienceMs ?? 60_000, () => lastCalls(recorded));
  const queue = createUpdateQueue({ clock, arrived: () => arrived(), forgotten: waiting.check });
  const world = createWorld({ me, clock, queue, changed: waiting.check });
  const faults = createFaults();
  const recorded: { method: string; args: Arguments; at: number; answer?: Record<string, unknown> }[] = [];
  const downloads: string[] = [];
  const chats = new Map<number, Chat>();
  const webhook = createWebhookDelivery({
    queue,
    clock,
    retryMs: options.webhookRetryMs ?? 1000,
    call: ({ method, ...args }) => carryOut(String(method), args, new AbortController().signal, new Map()),
  });
  const updates = createUpdateMethods({ queue, webhook, clock });
  const count = options.flood === false ? () => undefined : createFlood(clock);
  const methods: Readonly<Record<string, (args: Arguments, gone: AbortSignal, files: Files) => unknown>> = {
    ...updates.methods,
    ...messageMethods(world, count, options.flood === false ? () => undefined : createFlood(clock)),
    ...fileMethods(world, count),
    ...botMethods(world),
    ...ephemeralMethods(world, count),
    getfile: getFile(world),
  };

  function arrived(): void {
    updates.wake();
    webhook.wake();
    waiting.check();
  }

  async function carryOut(
    method: string,
    args: Arguments,
    gone: AbortSignal,
    files: Files,
  ): Promise<unknown> {
    const name = method.toLowerCase();
    checkArguments(name, args);
    return await methods[name]?.(args, gone, files);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/file/') === true)
      return serveFile(request, response, { world, token, downloads });
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const args: Arguments = {};
    const said: Record<string, unknown> = {};
    const record = { method: '', args, at: clock.now(), answer: said };
    try {
      const call = await readCall(request).catch((error: unknown) => {
        if (request.complete) throw error;
        return undefined;
      });
      if (call === undefined) return;
      Object.assign(record, { method: call.method, args: call.args });
      recorded.push(record);
      waiting.check();
      checkToken(call.token, token);
      const fault = faults.next(call.method.toLowerCase());
      if (fault?.cut === 'before') return void request.socket.destroy();
      if (fault?.badGateway === true) {
        return void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>');
      }
      if (fault?.badGateway !== undefined) {
        const { status, json } = fault.badGateway;
        return void response.writeHead(status, { 'content-type': 'application/json' }).end(json);
      }
      if (fault !== undefined) await meet(fault, clock);
      const { [fault?.forgets ?? '']: _, ...known } = call.args;
      const result = await carryOut(call.method, known, gone.signal, call.files);
      record.answer = { ok: true, result: structuredClone(result) };
      waiting.check();
      if (fault?.lateMs !== undefined) await clock.sleep(fault.lateMs);
      await fault?.answered;
      if (fault?.cut === 'after') return void request.socket.destroy();
      reply(response, 200, record.answer);
    } catch (error) {
      if (!(error instanceof BotApiError)) throw error;
      const { code, message, parameters } = error;
      record.answer = {
        ok: false,
        error_code: code,
        description: message,
        ...(parameters && { parameters }),
      };
      waiting.check();
      reply(response, code, record.answer);
    }
  }

  function addRoom(room: Pick<Room, 'type' | 'title'> & Partial<Room>): Room {
    const full: Room = {
      id: room.person?.id ?? world.nextGroupId(room.type),
      person: undefined,
      isForum: false,
      topics: new Map(),
      standing: 'member',
      movedTo: undefined,
      messages: new Map(),
      botSpokeLast: false,
      actions: [],
      reactions: new Map(),
      drafts: [],
      whispers: new Map(),
      left: new Set(),
      ...room,
    };
    world.rooms.set(full.id, full);
    return full;
  }

  function chat(room: Room): Chat {
    const known = chats.get(room.id) ?? createChat(world, room, { until: waiting.until, addRoom, chat });
    chats.set(room.id, known);
    return known;
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // A bot that was killed in the middle of a call never made it.
      if (!request.complete) return;
      waiting.fail(new Error('the Telegram server failed', { cause: error }));
      reply(response, 500, { ok: false, error_code: 500, description: 'Internal Server Error' });
    });
  });
  // An idle connection that the server ends just as a request is sent would fail that request.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    token,
    me,
    faults,
    queue,
    calls: (method) =>
      recorded.filter((call) => method === undefined || call.method.toLowerCase() === method.toLowerCase()),
    downloads,
    menus: () => world.commands,
    person({ name = 'Ann', username, id = world.nextUserId(), isBot = false, language } = {}) {
      const [first_name = name, last_name] = name.split(' ');
      const names = { first_name, ...(last_name && { last_name }), ...(username && { username }) };
      const user: User = { id, is_bot: isBot, ...names, ...(language && { language_code: language }) };
      const room = addRoom({ type: 'private', title: undefined, person: user, standing: 'stranger' });
      return createPerson(world, user, room, chat(room));
    },
    group: ({ title = 'Friends', type = 'supergroup', forum = false } = {}) =>
      chat(addRoom({ type, title, isForum: forum })),
    channel: ({ title = 'News' } = {}) =>
      chat(addRoom({ type: 'channel', title, standing: 'administrator' })),
    until: waiting.until,
    close,
    [Symbol.asyncDispose]: close,
  };

  async function close(): Promise<void> {
    updates.stop();
    await webhook.stop();
    waiting.stop();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }
}

function reply(response: ServerResponse, status: number, body: Record<string, unknown>): void {
  if (response.destroyed || response.headersSent) return;
  const after = (body['parameters'] as Record<string, number> | undefined)?.['retry_after'];
  const headers = {
    'content-type': 'application/json',
    ...(after === undefined ? {} : { 'retry-after': String(after) }),
  };
  response.writeHead(status, headers).end(JSON.stringify(body));
}

function checkToken(given: string, token: string): void {
  if (!given.includes(':') || given.startsWith('0') || given.length > 80) {
    throw new BotApiError(401, 'Unauthorized: invalid token specified');
  }
  if (given !== token) throw new BotApiError(401, 'Unauthorized');
}

/** The last calls of the bot that changed something, for a test that waits in vain. */
function lastCalls(recorded: readonly Readonly<{ method: string; args: Arguments }>[]): string {
  const calls = recorded.filter(({ method }) => !/^(?:get|delete|set)/i.test(method)).slice(-5);
  return calls.map(({ method, args }) => `\n  ${method} ${JSON.stringify(args).slice(0, 400)}`).join('');
}

function botUser(
  token: string,
  { username = 'test_bot', privacy = true }: TelegramServerOptions,
): UserFromGetMe {
  return {
    id: Number(token.split(':')[0]),
    is_bot: true,
    first_name: 'Test bot',
    username,
    can_join_groups: true,
    can_read_all_group_messages: !privacy,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
    can_manage_bots: false,
  } as UserFromGetMe;
}
