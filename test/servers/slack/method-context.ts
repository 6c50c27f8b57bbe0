import type { Outbound } from './delivery.ts';
import type { Json } from './event-payloads.ts';
import type { Views } from './views.ts';
import type { SlackRoom, StoredMessage, Workspace } from './workspace.ts';

/** An expected refusal of a call: `{ok: false, error, …more}` with HTTP 200. */
export class SlackRefusal extends Error {
  override readonly name = 'SlackRefusal';
  readonly more: Json;
  constructor(error: string, more: Json = {}) {
    super(error);
    this.more = more;
  }
}

export function refuse(error: string, messages?: readonly string[]): never {
  throw new SlackRefusal(error, messages === undefined ? {} : { response_metadata: { messages } });
}

/** A file from when its address was asked for; `bytes` once they came, `shared` once it is shown somewhere. */
export type UploadedFile = { name: string; length: number; bytes?: Buffer; shared?: boolean };

/** What the methods work on. */
export type MethodContext = Readonly<{
  workspace: Workspace;
  /** Sends an event to the app. */
  emit: (event: Outbound) => void;
  /** Tells the inspections that a message of the bot was posted, changed or deleted. */
  changed: (change: Readonly<{ kind: 'posted' | 'updated' | 'deleted'; message: StoredMessage }>) => void;
  /** Tells of a status line, a reaction, an ephemeral message. */
  shown: (shown: Json) => void;
  /** Whether the app is subscribed to this event. */
  tells: (event: string) => boolean;
  socketUrl: () => string;
  uploadUrl: (id: string) => string;
  files: Map<string, UploadedFile>;
  /** A file that a person sent. */
  sentFile: (id: string) => Json | undefined;
  views: Pick<Views, 'open' | 'publish'>;
  now: () => number;
}>;

export type Handler = (args: Json, context: MethodContext) => Json;

export function text(args: Json, name: string): string {
  const value = args[name];
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** Arguments that may come as JSON text in a form. */
export function structured(args: Json, name: string, error: string): unknown {
  const value = args[name];
  if (typeof value !== 'string') return value;
  if (value === '') return undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return refuse(error);
  }
}

export function isTrue(value: unknown): boolean {
  return value === true || value === 'true' || value === '1' || value === 1;
}

/** The room of a call, as far as the bot may see it. `U…` opens a direct message where `opens` says so. */
export function roomOf(args: Json, context: MethodContext, name = 'channel', opens = false): SlackRoom {
  const { workspace } = context;
  const id = text(args, name);
  if (opens && workspace.users.has(id) && id !== workspace.bot.user) return workspace.dmWith(id);
  const room = workspace.rooms.get(id);
  if (room === undefined) return refuse('channel_not_found');
  if (room.kind !== 'channel' && !room.members.has(workspace.bot.user)) return refuse('channel_not_found');
  return room;
}

export function memberRoom(args: Json, context: MethodContext, name = 'channel', opens = false): SlackRoom {
  const room = roomOf(args, context, name, opens);
  if (!room.members.has(context.workspace.bot.user)) return refuse('not_in_channel');
  return room.archived ? refuse('is_archived') : room;
}
