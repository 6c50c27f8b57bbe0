import { blocksLength, checkBlocks } from './block-kit.ts';
import { planAfter, planIn, readStreamed } from './stream-chunks.ts';
import { changeEvent, messageBody, messageEvent, type Json } from './event-payloads.ts';
import {
  memberRoom,
  refuse,
  roomOf,
  structured,
  text,
  type Handler,
  type MethodContext,
} from './method-context.ts';
import type { SlackRoom, StoredMessage } from './workspace.ts';

/** chat.postMessage and its kin. */
export const chatMethods: Readonly<Record<string, Handler>> = {
  'chat.postMessage': (args, context) => {
    const room = memberRoom(args, context, 'channel', true);
    const body = bodyOf(args);
    const thread = threadOf(args, room, context);
    const metadata = metadataOf(args);
    const message = store(room, context, {
      text: body.text.slice(0, 40_000),
      ...(body.blocks === undefined ? {} : { blocks: body.blocks }),
      ...(thread === undefined ? {} : { threadTs: thread }),
      ...(metadata === undefined ? {} : { metadata }),
      sentWith: args,
      plan: planIn(body.blocks ?? []),
    });
    return { channel: room.id, ts: message.ts, message: messageBody(context.workspace, message) };
  },

  'chat.update': (args, context) => {
    const room = roomOf(args, context);
    const message = ownMessage(args, room, context, 'cant_update_message');
    if (isStreaming(message, context)) return refuse('streaming_state_conflict');
    if (text(args, 'text').length > 4000) return refuse('msg_too_long');
    const body = bodyOf(args);
    const before = { ...message };
    message.text = body.text;
    message.plan = planIn(body.blocks ?? []);
    if (body.blocks !== undefined) message.blocks = body.blocks;
    else if (args['text'] !== undefined) delete message.blocks;
    message.metadata = metadataOf(args) ?? message.metadata;
    changed(room, before, message, context);
    return { channel: room.id, ts: message.ts, text: message.text };
  },

  'chat.delete': (args, context) => {
    const room = roomOf(args, context);
    const message = ownMessage(args, room, context, 'cant_delete_message');
    if (isStreaming(message, context)) return refuse('cant_delete_message');
    message.deleted = true;
    context.emit({ room, event: changeEvent(context.workspace, room, message, undefined) });
    context.changed({ kind: 'deleted', message });
    return { channel: room.id, ts: message.ts };
  },

  'chat.postEphemeral': (args, context) => {
    const room = memberRoom(args, context);
    if (!room.members.has(text(args, 'user'))) return refuse('user_not_in_channel');
    const body = bodyOf(args);
    const ts = context.workspace.nextTs();
    const thread = threadOf(args, room, context);
    context.shown({
      kind: 'ephemeral',
      channel: room.id,
      user: text(args, 'user'),
      ...body,
      ts,
      ...(thread === undefined ? {} : { threadTs: thread }),
    });
    return { message_ts: ts };
  },

  'chat.startStream': (args, context) => {
    const room = memberRoom(args, context);
    if (room.kind !== 'im') {
      if (text(args, 'recipient_user_id') === '') return refuse('missing_recipient_user_id');
      if (text(args, 'recipient_team_id') === '') return refuse('missing_recipient_team_id');
    }
    const thread = threadOf(args, room, context);
    if (thread === undefined)
      return refuse('invalid_arguments', ['[ERROR] missing required field: thread_ts']);
    const mode = text(args, 'task_display_mode');
    if (!['', 'plan', 'timeline'].includes(mode)) return refuse('invalid_arguments');
    const streamed = readStreamed(args);
    const plan = planAfter(undefined, streamed);
    const message = store(room, context, { text: streamed.text, threadTs: thread, sentWith: args, plan });
    message.streaming = { expiresAt: context.now() + streamMs, state: 'in_progress', mode: streamed.mode };
    return { channel: room.id, ts: message.ts };
  },

  'chat.appendStream': (args, context) => {
    const written = context.workspace.message(text(args, 'channel'), text(args, 'ts'));
    if (written?.streaming?.state === 'stopped_by_user') return refuse('stopped_by_user');
    const { room, message } = streaming(args, context);
    const more = readStreamed(args, message.streaming?.mode);
    if (more.mode === undefined) return refuse('no_text');
    const before = { ...message };
    if (message.streaming !== undefined) message.streaming.mode ??= more.mode;
    message.text += more.text;
    message.plan = planAfter(message.plan, more);
    changed(room, before, message, context);
    return { channel: room.id, ts: message.ts };
  },

  'chat.stopStream': (args, context) => {
    const { room, message } = streaming(args, context);
    const metadata = metadataOf(args);
    const before = { ...message };
    const last = readStreamed(args, message.streaming?.mode);
    message.text += last.text;
    message.plan = planAfter(message.plan, last);
    if (message.streaming !== undefined) message.streaming = { ...message.streaming, state: 'completed' };
    message.metadata = metadata ?? message.metadata;
    changed(room, before, message, context);
    return { channel: room.id, ts: message.ts, message: messageBody(context.workspace, message) };
  },
};

/** Slack ends a stream about five minutes after its start, however much is added. */
const streamMs = 5 * 60_000;

type Body = Readonly<{ text: string; blocks?: readonly Json[] }>;

/** Text and blocks of a call, held to every limit. */
export function bodyOf(args: Json): Body {
  const plain = text(args, 'text');
  const markdown = text(args, 'markdown_text');
  const blocks = structured(args, 'blocks', 'invalid_blocks_format');
  if (markdown !== '' && (plain !== '' || blocks !== undefined)) return refuse('markdown_text_conflict');
  if (markdown.length > 12_000) return refuse('msg_too_long');
  if (blocks !== undefined) {
    if (!Array.isArray(blocks)) return refuse('invalid_blocks_format');
    const problems = checkBlocks(blocks);
    if (problems.length > 0)
      return refuse(
        'invalid_blocks',
        problems.map((problem) => `[ERROR] ${problem}`),
      );
    if (blocksLength(blocks) > 13_200) return refuse('msg_blocks_too_long');
  }
  const noBlocks = blocks === undefined || (blocks as unknown[]).length === 0;
  if (plain === '' && markdown === '' && noBlocks && args['attachments'] === undefined)
    return refuse('no_text');
  return { text: plain || markdown, ...(blocks === undefined ? {} : { blocks: blocks as readonly Json[] }) };
}

function metadataOf(args: Json): StoredMessage['metadata'] {
  const metadata = structured(args, 'metadata', 'invalid_metadata_format');
  if (metadata === undefined) return undefined;
  const { event_type, event_payload } = metadata as Json;
  if (typeof event_type !== 'string' || typeof event_payload !== 'object' || event_payload === null) {
    return refuse('invalid_metadata_schema');
  }
  if (JSON.stringify(metadata).length > 16_000) return refuse('metadata_too_large');
  return { event_type, event_payload: event_payload as Json };
}

export function threadOf(args: Json, room: SlackRoom, { workspace }: MethodContext): string | undefined {
  const thread = text(args, 'thread_ts');
  if (thread === '') return undefined;
  const root = workspace.message(room.id, thread);
  if (root === undefined) return refuse('thread_not_found');
  return root.threadTs !== undefined && root.threadTs !== root.ts
    ? refuse('cannot_reply_to_message')
    : thread;
}

function ownMessage(args: Json, room: SlackRoom, { workspace }: MethodContext, error: string): StoredMessage {
  const message = workspace.message(room.id, text(args, 'ts'));
  if (message === undefined) return refuse('message_not_found');
  return message.user === workspace.bot.user ? message : refuse(error);
}

/** Puts a message of the bot into a room, and tells of it. */
export function store(
  room: SlackRoom,
  context: MethodContext,
  said: Pick<StoredMessage, 'text' | 'blocks' | 'threadTs' | 'metadata' | 'files' | 'sentWith' | 'plan'>,
): StoredMessage {
  const { workspace } = context;
  const { user, botId } = workspace.bot;
  const ts = workspace.nextTs();
  const message: StoredMessage = {
    ...said,
    channel: room.id,
    ts,
    user,
    botId,
    edited: undefined,
    deleted: false,
  };
  room.messages.push(message);
  context.emit({ room, event: messageEvent(workspace, room, message) });
  context.changed({ kind: 'posted', message });
  return message;
}

function changed(
  room: SlackRoom,
  before: StoredMessage,
  message: StoredMessage,
  context: MethodContext,
): void {
  context.emit({ room, event: changeEvent(context.workspace, room, before, message) });
  context.changed({ kind: 'updated', message });
}

function streaming(args: Json, context: MethodContext): { room: SlackRoom; message: StoredMessage } {
  const room = roomOf(args, context);
  const message = context.workspace.message(room.id, text(args, 'ts'));
  if (message === undefined) return refuse('message_not_found');
  if (message.user !== context.workspace.bot.user) return refuse('message_not_owned_by_app');
  return isStreaming(message, context) ? { room, message } : refuse('message_not_in_streaming_state');
}

export function isStreaming(message: StoredMessage, { now }: MethodContext): boolean {
  const { streaming } = message;
  if (streaming?.state === 'in_progress' && now() > streaming.expiresAt)
    message.streaming = { ...streaming, state: 'errored' };
  return message.streaming?.state === 'in_progress';
}
