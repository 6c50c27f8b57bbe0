import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../src/lib/clock.ts';
import { createServer } from '../../../src/lib/net/node-http.ts';
import { badRequest, BotApiError } from '../../servers/telegram/bot-api-error.ts';
import type { WebhookDelivery } from '../../servers/telegram/deliver-webhook.ts';
import { createUpdateMethods } from '../../servers/telegram/methods-updates.ts';
import { readCall, type Call, type SentFile } from '../../servers/telegram/read-call.ts';
import { getFile, serveFile, type HeldFile } from '../../servers/telegram/serve-file.ts';
import { createUpdateQueue } from '../../servers/telegram/update-queue.ts';
import { messagesIn, sendModelAnswer, type ModelRequest } from './lean-model.ts';

/** Something the bot sent that notifies, as it reads in the end. */
export type LeanAnswer = Readonly<{
  chat: number;
  id: number;
  text: string;
  /** The process that sent it. */
  by: string;
  /** Monotonic milliseconds. */
  at: number;
}>;

/** A document that the bot sent. */
export type LeanFile = Readonly<{ chat: number; name: string; sha256: string; at: number }>;

/**
 * Telegram and a model at once, as cheap as can be: what is measured is the bot. Updates are handed out as the Bot API does
 * (one poller, the rest 409; what is not acknowledged comes again); nothing else is checked.
 */
export type LeanPlatform = Readonly<{
  /** For a process of this name: its `api_root` and its model's `base_url`, so that its calls are told apart. */
  urlOf(process: string): string;
  token: string;
  /** A private message from this chat, or a document with this caption. Its bytes may be a getter: they are read anew for each download. */
  says(chat: number, text: string, file?: SentFile): void;
  /** Resolves when so many answers have arrived since the start. */
  answered(count: number): Promise<void>;
  /** Answers by chat, in the order they arrived. */
  answers: ReadonlyMap<number, readonly LeanAnswer[]>;
  files: ReadonlyMap<number, readonly LeanFile[]>;
  /** Lines about the work, which came without a notification and are still there: `"text" in chat`. */
  lines(): readonly string[];
  /** Told of each answer when it arrives. Gives what ends it. */
  onAnswer(listener: (answer: LeanAnswer) => void): () => void;
  /** Who asked for updates when (monotonic milliseconds), in that order. */
  polls: readonly Readonly<{ by: string; at: number }>[];
  /** How many polls ended with 409. */
  conflicts(): number;
  /** Requests at the model that are not answered yet, and all so far, by process. */
  asking: ReadonlyMap<string, number>;
  asked: ReadonlyMap<string, number>;
  /** From now on the model answers this process nothing, until what is given back is called. */
  hold(process: string): () => void;
  close(): Promise<void>;
}>;

const noWebhook: WebhookDelivery = {
  set: () => undefined,
  current: () => undefined,
  wake: () => undefined,
  lastError: () => undefined,
  stop: async () => undefined,
};

/** The model answers after `modelMs` (`sendModelAnswer`). */
export async function startLeanPlatform({ modelMs = 0, host = '127.0.0.1' } = {}): Promise<LeanPlatform> {
  const token = '7000000001:lean';
  const answers = new Map<number, LeanAnswer[]>();
  const files = new Map<number, LeanFile[]>();
  const polls: { by: string; at: number }[] = [];
  const waiting: Readonly<{ count: number; resolve: () => void }>[] = [];
  const listeners = new Set<(answer: LeanAnswer) => void>();
  const asking = new Map<string, number>();
  const held = new Map<string, Promise<void>>();
  const dates = new Map<number, number>();
  const asked = new Map<string, number>();
  const uploads = new Map<string, HeldFile>();
  const world = { files: uploads, changed: () => undefined };
  const lines = new Map<number, string>();
  const counted = { answers: 0, messages: 0, conflicts: 0 };
  const queue = createUpdateQueue({
    clock: systemClock,
    arrived: () => updates.wake(),
    forgotten: () => undefined,
  });
  const updates = createUpdateMethods({ queue, webhook: noWebhook, clock: systemClock });

  const sent = (chat: number, content: object) => ({
    message_id: ++counted.messages,
    date: now(),
    chat: { id: chat, type: 'private', first_name: 'P' },
    ...content,
  });

  function sendMessage(
    by: string,
    chat: number,
    { text, disable_notification: silent }: Call['args'],
  ): unknown {
    const message = sent(chat, { text });
    const id = message.message_id;
    if (silent === true) lines.set(id, `"${String(text)}" in ${chat}`);
    else show({ chat, id, by }, String(text));
    return message;
  }

  function editMessage(of: Pick<LeanAnswer, 'chat' | 'id' | 'by'>, text: string): void {
    if (lines.has(of.id)) lines.set(of.id, `"${text}" in ${of.chat}`);
    else show(of, text);
  }

  function deleteMessage(of: Pick<LeanAnswer, 'chat' | 'id'>): void {
    if (!lines.delete(of.id)) unshow(of);
  }

  function show(of: Pick<LeanAnswer, 'chat' | 'id' | 'by'>, text: string): void {
    const all = unshow(of);
    for (const each of messagesIn(text)) {
      const answer = { ...of, text: each, at: performance.now() };
      all.push(answer);
      counted.answers += 1;
      for (const listener of [...listeners]) listener(answer);
    }
    while (waiting[0] !== undefined && waiting[0].count <= counted.answers) waiting.shift()?.resolve();
  }

  /** Gives the rest of the chat. */
  function unshow({ chat, id }: Pick<LeanAnswer, 'chat' | 'id'>): LeanAnswer[] {
    const rest = (answers.get(chat) ?? []).filter((answer) => answer.id !== id);
    answers.set(chat, rest);
    return rest;
  }

  function sendDocument(chat: number, [file]: readonly SentFile[]): unknown {
    if (file === undefined) throw badRequest('there is no document in the request');
    const { name, bytes } = file;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    files.set(chat, [...(files.get(chat) ?? []), { chat, name, sha256, at: performance.now() }]);
    const document = { file_id: sha256, file_unique_id: sha256, file_name: name, file_size: bytes.length };
    return sent(chat, { document });
  }

  async function carryOut(by: string, call: Call, gone: AbortSignal): Promise<unknown> {
    const { method, args } = call;
    const chat = Number(args['chat_id']);
    if (method === 'getMe') return me;
    const id = Number(args['message_id']);
    if (method === 'sendMessage') return sendMessage(by, chat, args);
    if (method === 'editMessageText') return (editMessage({ chat, id, by }, String(args['text'])), true);
    if (method === 'deleteMessage') return (deleteMessage({ chat, id }), true);
    if (method === 'sendDocument') return sendDocument(chat, [...call.files.values()]);
    if (method === 'getFile') return getFile(world)(args);
    if (method === 'getUpdates') polls.push({ by, at: performance.now() });
    return (await updates.methods[method.toLowerCase()]?.(args, gone)) ?? true;
  }

  function hold(by: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.set(by, promise);
    return () => {
      held.delete(by);
      resolve();
    };
  }

  async function model(by: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request).catch(() => undefined)) as ModelRequest | undefined;
    if (body === undefined) return;
    asked.set(by, (asked.get(by) ?? 0) + 1);
    asking.set(by, (asking.get(by) ?? 0) + 1);
    if (modelMs > 0) await delay(modelMs);
    await held.get(by);
    asking.set(by, (asking.get(by) ?? 0) - 1);
    sendModelAnswer(body, response);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const [, by = '', path = ''] = /^\/([^/]*)(.*)$/.exec(request.url ?? '') ?? [];
    if (path.startsWith('/v1/messages')) return model(by, request, response);
    request.url = path;
    if (path.startsWith('/file/')) return serveFile(request, response, { world, token, downloads: [] });
    response.setHeader('content-type', 'application/json');
    try {
      const result = await carryOut(by, await readCall(request), gone.signal);
      response.end(JSON.stringify({ ok: true, result }));
    } catch (error) {
      // Who was killed in the middle of a call did not make it.
      if (!request.complete) return;
      if (!(error instanceof BotApiError)) throw error;
      if (error.code === 409) counted.conflicts += 1;
      response.writeHead(error.code);
      response.end(JSON.stringify({ ok: false, error_code: error.code, description: error.message }));
    }
  }

  const server = createServer((request, response) => void answer(request, response));
  // An idle connection that the server ends just as a request is sent would fail that request.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (process) => `http://${host}:${port}/${process}`,
    token,
    says(chat, text, file) {
      const from = { id: chat, is_bot: false, first_name: 'P' };
      // Not so close that they were one message in pieces (H11).
      const date = Math.max(now(), (dates.get(chat) ?? 0) + 2);
      dates.set(chat, date);
      const about = { message_id: ++counted.messages, date, chat: { ...from, type: 'private' }, from };
      if (file === undefined) return queue.add('message', { ...about, text }, chat);
      const id = `${about.message_id}`;
      const size = file.bytes.length;
      uploads.set(id, {
        size,
        trouble: () => undefined,
        get bytes() {
          return file.bytes;
        },
      });
      const document = { file_id: id, file_unique_id: `u${id}`, file_name: file.name, file_size: size };
      queue.add('message', { ...about, caption: text, document }, chat);
    },
    answered: (wanted) =>
      wanted <= counted.answers
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count: wanted, resolve })),
    answers,
    lines: () => [...lines.values()],
    files,
    onAnswer(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    polls,
    conflicts: () => counted.conflicts,
    asking,
    asked,
    hold,
    close: () =>
      new Promise((resolve) => {
        updates.stop();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const me = {
  id: 7_000_000_001,
  is_bot: true,
  first_name: 'Lean',
  username: 'lean_bot',
  can_read_all_group_messages: true,
};

function now(): number {
  return Math.floor(Date.now() / 1_000);
}
