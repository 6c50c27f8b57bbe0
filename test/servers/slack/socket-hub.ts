import type { IncomingMessage, Server } from 'node:http';
import { randomUUID } from 'node:crypto';
import { WebSocket, WebSocketServer } from 'ws';
import type { Attempt, Transport } from './delivery.ts';
import { createWatch, type Watch } from './watch.ts';
import type { Workspace } from './workspace.ts';

/** The Socket Mode side: hello, envelopes, acknowledgements, disconnects. */
export type SocketHub = Readonly<{
  /** An address for one connection, good once. */
  newUrl(base: string): string;
  transport: Transport;
  /** How many said hello and are open. */
  open(): number;
  /** Connections as they were greeted. */
  greeted: Watch<number>;
  /** Connections as they ended. */
  ended: Watch<number>;
  /** What the app sent that was no acknowledgement of an open envelope of that connection. */
  faults: Watch<string>;
  /** Slack's routine goodbye to one connection (the oldest that was not told yet) or to all. */
  disconnect(reason: 'warning' | 'refresh_requested' | 'link_disabled', which?: 'one' | 'all'): void;
  /** The network goes away without a word. */
  cut(which?: 'one' | 'all'): void;
  close(): void;
}>;

type Connection = {
  readonly number: number;
  readonly socket: WebSocket;
  readonly pending: Map<string, (attempt: Attempt) => void>;
  /** Slack sends nothing more to a connection whose refresh it requested; a warned one goes on for a while. */
  leaving: boolean;
  told: boolean;
};

export function createSocketHub(
  server: Server,
  workspace: Workspace,
  knobs: Readonly<{ ackTimeoutMs: number }>,
): SocketHub {
  const tickets = new Set<string>();
  const connections: Connection[] = [];
  const state = { turn: 0, numbers: 0 };
  const greeted = createWatch<number>();
  const ended = createWatch<number>();
  const faults = createWatch<string>();
  const sockets = new WebSocketServer({ noServer: true });

  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    const ticket = new URL(request.url ?? '/', 'http://x').searchParams.get('ticket') ?? '';
    if (!tickets.delete(ticket)) {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (ws) => greet(ws));
  });

  const greet = (socket: WebSocket): void => {
    const debug_info = { host: 'applink-test', build_number: 1, approximate_connection_time: 18_060 };
    const connection_info = { app_id: workspace.bot.appId };
    if (connections.length >= 10) {
      say(socket, { type: 'disconnect', reason: 'too_many_websockets', debug_info, connection_info });
      socket.close();
      return;
    }
    const connection: Connection = {
      number: ++state.numbers,
      socket,
      pending: new Map(),
      leaving: false,
      told: false,
    };
    connections.push(connection);
    socket.on('message', (data) => acknowledge(connection, (data as Buffer).toString()));
    socket.on('close', () => {
      connections.splice(connections.indexOf(connection), 1);
      for (const lose of connection.pending.values()) lose({ ok: false, reason: 'connection_failed' });
      ended.add(connection.number);
    });
    socket.on('error', (error) => faults.add(`connection error: ${error.message}`));
    say(socket, { type: 'hello', num_connections: connections.length, debug_info, connection_info });
    greeted.add(connection.number);
  };

  const acknowledge = (connection: Connection, text: string): void => {
    const ack = parse(text);
    const settle = ack === undefined ? undefined : connection.pending.get(ack.envelope_id);
    if (ack === undefined || settle === undefined) {
      faults.add(`no acknowledgement of an open envelope: ${text.slice(0, 200)}`);
      return;
    }
    connection.pending.delete(ack.envelope_id);
    settle({ ok: true, response: ack.payload });
  };

  const transport: Transport = async (type, payload, retry) => {
    const usable = connections.filter(
      ({ leaving, socket }) => !leaving && socket.readyState === WebSocket.OPEN,
    );
    const connection = usable[state.turn++ % Math.max(1, usable.length)];
    if (connection === undefined) return { ok: false, reason: 'no_connection' };
    const envelope_id = randomUUID();
    const retries =
      type === 'events_api'
        ? { retry_attempt: retry?.num ?? 0, retry_reason: retry === undefined ? '' : 'timeout' }
        : {};
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        connection.pending.delete(envelope_id);
        resolve({ ok: false, reason: 'timeout' });
      }, knobs.ackTimeoutMs);
      connection.pending.set(envelope_id, (attempt) => {
        clearTimeout(timer);
        resolve(attempt);
      });
      const accepts_response_payload = type === 'slash_commands' || payload['type'] === 'view_submission';
      say(connection.socket, { envelope_id, payload, type, accepts_response_payload, ...retries });
    });
  };

  const chosen = (which: 'one' | 'all'): readonly Connection[] =>
    which === 'all' ? [...connections] : connections.filter(({ told }) => !told).slice(0, 1);

  return {
    newUrl(base) {
      const ticket = randomUUID();
      tickets.add(ticket);
      return `${base.replace('http', 'ws')}/link/?ticket=${ticket}&app_id=${workspace.bot.appId}`;
    },
    transport,
    open: () => connections.length,
    greeted,
    ended,
    faults,
    disconnect(reason, which = 'one') {
      for (const connection of chosen(which)) {
        connection.told = true;
        connection.leaving = reason !== 'warning';
        say(connection.socket, { type: 'disconnect', reason, debug_info: { host: 'applink-test' } });
      }
    },
    cut(which = 'one') {
      for (const { socket } of chosen(which)) socket.terminate();
    },
    close() {
      for (const { socket } of [...connections]) socket.terminate();
      sockets.close();
    },
  };
}

function say(socket: WebSocket, frame: object): void {
  socket.send(JSON.stringify(frame));
}

function parse(text: string): Readonly<{ envelope_id: string; payload: unknown }> | undefined {
  try {
    const frame = JSON.parse(text) as { envelope_id?: unknown; payload?: unknown };
    return typeof frame.envelope_id === 'string'
      ? { envelope_id: frame.envelope_id, payload: frame.payload }
      : undefined;
  } catch {
    return undefined;
  }
}
