import { z } from 'zod';
import type { Channel, WorkState } from '../../core/channel.ts';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { oneLine } from '../../lib/text/text.ts';
import { slackErrorCode, toSendError, type CallSlack } from './slack-error.ts';

/** Slack's agent sessions, one a thread. While one is `processing`, Slack shows a stop button there (U15). */
type Sessions = Readonly<{
  show: NonNullable<Channel['showWork']>;
  /** Resolves once Slack knows the newest status of every session. */
  settled(): Promise<void>;
}>;

const longestTitle = 80;
const mostTries = 5;
const againMs = 1_000;
const statuses: Readonly<Record<WorkState, string>> = {
  working: 'processing',
  asking: 'suspended',
  idle: 'active',
};

type Session = {
  wanted: WorkState;
  told: WorkState | undefined;
  title: string | undefined;
  done: Promise<void>;
};

/** Tells Slack the newest status of each thread, one call after another, and nothing twice. */
export function createAgentSessions({
  call,
  clock,
  log,
  unstoppable,
}: Readonly<{ call: CallSlack; clock: Clock; log: Log; unstoppable(): void }>): Sessions {
  /** Those that are not idle, or are about to be told. */
  const sessions = new Map<string, Session>();

  async function carryOut(key: string, { chat, thread }: Conversation, session: Session): Promise<void> {
    let failures = 0;
    while (session.told !== session.wanted && failures < mostTries) {
      const { wanted, title } = session;
      try {
        const place = { channel_id: chat, thread_ts: thread, status: statuses[wanted] };
        const named = title === undefined ? place : { ...place, title };
        const answer = await call('agents.sessions.setStatus', named);
        if (warnsOf(answer, noStops)) unstoppable();
        session.told = wanted;
        session.title = undefined;
        failures = 0;
      } catch (error) {
        failures += 1;
        const code = slackErrorCode(error);
        const { retryAfterMs, outcome } = toSendError(error, 'the status of a session');
        log.debug({ err: code === undefined ? error : undefined, code }, 'a session could not be changed');
        if (outcome === 'refused') break;
        if (failures < mostTries) await clock.sleep(retryAfterMs ?? againMs);
      }
    }
    if (session.wanted === 'idle' || session.told !== session.wanted) sessions.delete(key);
  }

  return {
    show(conversation, wanted, asked) {
      if (conversation.thread === undefined) return;
      const key = conversationKey(conversation);
      const before = sessions.get(key);
      if (before?.wanted === wanted) return;
      const session = before ?? {
        wanted,
        told: undefined,
        title: asked && titleOf(asked),
        done: Promise.resolve(),
      };
      session.wanted = wanted;
      sessions.set(key, session);
      session.done = session.done.then(() => carryOut(key, conversation, session));
    },
    async settled() {
      await Promise.all([...sessions.values()].map(({ done }) => done));
    },
  };
}

/** The title of a session that a message begins. Undefined if the session is older, or if a command says nothing. */
function titleOf({ conversation, chatType, platformId, command, text }: Message): string | undefined {
  const [question = ''] = text.trim().split('\n');
  if (chatType !== 'private' || conversation.thread !== platformId) return undefined;
  return command !== undefined || question === '' ? undefined : oneLine(question, longestTitle);
}

const noStops = 'missing_agent_session_stopped_event_subscription';

const warned = z.object({
  warning: z.string().optional().catch(undefined),
  response_metadata: z
    .object({ warnings: z.array(z.string()).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

function warnsOf(answer: unknown, code: string): boolean {
  const read = warned.safeParse(answer);
  if (!read.success) return false;
  const { warning, response_metadata: more } = read.data;
  return warning?.split(',').includes(code) === true || more?.warnings?.includes(code) === true;
}
