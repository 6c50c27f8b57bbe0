import type { Json } from './event-payloads.ts';
import { manifest } from './manifest.ts';
import { refuse, roomOf, structured, text, type Handler, type MethodContext } from './method-context.ts';
import type { AgentSession, SlackRoom } from './workspace.ts';

/** What Slack shows around a conversation with an agent. */
export const agentMethods: Readonly<Record<string, Handler>> = {
  'assistant.threads.setStatus': (args, context) => {
    const room = roomOf(args, context, 'channel_id');
    const thread = threadIn(args, room, context);
    context.shown({ kind: 'status', channel: room.id, thread, status: text(args, 'status') });
    return {};
  },
  'assistant.threads.setTitle': (args, context) => {
    const room = roomOf(args, context, 'channel_id');
    const thread = threadIn(args, room, context);
    context.shown({ kind: 'title', channel: room.id, thread, title: text(args, 'title') });
    return {};
  },
  'assistant.threads.setSuggestedPrompts': (args, context) => {
    const room = roomOf(args, context, 'channel_id');
    if (room.kind !== 'im' || manifest.features.agent_view === undefined) return refuse('channel_not_found');
    const prompts = structured(args, 'prompts', 'invalid_arguments');
    if (!isPrompts(prompts))
      return refuse('invalid_arguments', ['[ERROR] prompts: 1 to 4, each with a title and a message']);
    // An agent that names a thread is told that all is well, and nobody sees the prompts.
    if (text(args, 'thread_ts') === '') context.shown({ kind: 'prompts', channel: room.id, prompts });
    return {};
  },
  'agents.sessions.setStatus': (args, context) => {
    const room = roomOf(args, context, 'channel_id');
    if (!room.members.has(context.workspace.bot.user)) return refuse('not_authorized');
    const status = text(args, 'status');
    if (!isStatus(status)) return refuse('invalid_status');
    if (text(args, 'thread_ts') === '') return refuse('thread_ts_required');
    const thread = threadIn(args, room, context);
    const initiator = text(args, 'initiator_user_id');
    if (initiator !== '' && !room.members.has(initiator)) return refuse('user_not_found');
    const title = text(args, 'title');
    if (title.length > 200)
      return refuse('invalid_arguments', ['[ERROR] must be at most 200 characters [json-pointer:/title]']);
    const { sessions } = context.workspace;
    const place = `${room.id} ${thread}`;
    const before = sessions.get(place);
    sessions.set(place, { status, title: before?.title ?? (title || undefined) });
    const named = before === undefined && title !== '' ? { title } : {};
    context.shown({ kind: 'session', channel: room.id, status, thread, ...named });
    return { status, agent_status: status, ...(context.tells(stopEvent) ? {} : unstoppable) };
  },
};

function isStatus(status: string): status is AgentSession['status'] {
  return ['active', 'processing', 'suspended', 'closed'].includes(status);
}

const stopEvent = 'agent_session_stopped';
const unstoppable = {
  warning: 'missing_agent_session_stopped_event_subscription',
  response_metadata: { warnings: ['missing_agent_session_stopped_event_subscription'] },
};

function isPrompts(prompts: unknown): boolean {
  return (
    Array.isArray(prompts) &&
    prompts.length >= 1 &&
    prompts.length <= 4 &&
    (prompts as readonly Json[]).every(({ title, message }) =>
      [title, message].every((words) => typeof words === 'string' && words !== ''),
    )
  );
}

function threadIn(args: Json, room: SlackRoom, { workspace }: MethodContext): string {
  const thread = text(args, 'thread_ts');
  return workspace.message(room.id, thread) === undefined ? refuse('invalid_thread_ts') : thread;
}
