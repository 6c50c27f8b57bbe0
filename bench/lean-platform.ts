import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** Telegram and a model at once, as cheap as can be: what is measured is the bot. They check nothing. */
export type LeanPlatform = Readonly<{
  url: string;
  token: string;
  /** A private message from this chat. */
  says(chat: number, text: string): void;
  /** Resolves when so many answers have arrived since the start. */
  answered(count: number): Promise<void>;
  /** Texts of answers by chat, in the order they arrived. */
  answers: ReadonlyMap<number, readonly string[]>;
  /** Resolves at the first `getUpdates`. */
  polled: Promise<void>;
  close(): Promise<void>;
}>;

const pollMs = 25_000;

/** The model's answer repeats the last thing the person said, so that order can be seen. */
export async function startLeanPlatform(): Promise<LeanPlatform> {
  const token = '7000000001:lean';
  const pending: Readonly<Record<string, unknown>>[] = [];
  const answers = new Map<number, string[]>();
  const polled = Promise.withResolvers<void>();
  const waiting: Readonly<{ count: number; resolve: () => void }>[] = [];
  let count = 0;
  let updates = 0;
  let messages = 0;
  let poll: (() => void) | undefined;

  const methods: Readonly<Record<string, (body: Body) => unknown>> = {
    getMe: () => ({
      id: 7_000_000_001,
      is_bot: true,
      first_name: 'Lean',
      username: 'lean_bot',
      can_read_all_group_messages: true,
    }),
    getUpdates: ({ offset = 0, limit = 100 }) => getUpdates(Number(offset), Number(limit)),
    sendMessage({ chat_id, text }) {
      const chat = Number(chat_id);
      answers.set(chat, [...(answers.get(chat) ?? []), String(text)]);
      count += 1;
      while (waiting[0] !== undefined && waiting[0].count <= count) waiting.shift()?.resolve();
      return {
        message_id: ++messages,
        date: now(),
        chat: { id: chat, type: 'private', first_name: 'P' },
        text,
      };
    },
  };

  async function getUpdates(offset: number, limit: number): Promise<unknown> {
    polled.resolve();
    while (pending.length > 0 && Number(pending[0]?.['update_id']) < offset) pending.shift();
    if (pending.length === 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs);
        poll = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return pending.slice(0, limit);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request).catch(() => ({}))) as Body;
    const method = request.url?.split('/').at(-1)?.split('?')[0] ?? '';
    if (method === 'messages') return sendModelAnswer(body, response);
    const result = (await methods[method]?.(body)) ?? true;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ok: true, result }));
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    says(chat, text) {
      const from = { id: chat, is_bot: false, first_name: 'P' };
      const message = { message_id: ++messages, date: now(), chat: { ...from, type: 'private' }, from, text };
      pending.push({ update_id: ++updates, message });
      poll?.();
      poll = undefined;
    },
    answered: (wanted) =>
      wanted <= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count: wanted, resolve })),
    answers,
    polled: polled.promise,
    close: () =>
      new Promise((resolve) => {
        poll?.();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Body = Readonly<Record<string, unknown>>;

function now(): number {
  return Math.floor(Date.now() / 1_000);
}

function sendModelAnswer({ messages }: Body, response: ServerResponse): void {
  const said = JSON.stringify((messages as readonly unknown[]).at(-1));
  const text = /message \d+/.exec(said)?.[0] ?? 'Fine.';
  const usage = { input_tokens: 10, output_tokens: 2 };
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'lean',
        content: [],
        stop_reason: null,
        usage,
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  response.setHeader('content-type', 'text/event-stream');
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}
