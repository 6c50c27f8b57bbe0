import type { Channel, Visit } from '../../core/channel.ts';
import type { Prompt } from '../../core/menus.ts';
import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/clock.ts';
import { createAgentSessions } from './create-agent-sessions.ts';
import { slackErrorCode, type CallSlack } from './slack-error.ts';

/** Slack's agent view around a direct message (H4). Nothing waits for these calls. */
export type AgentView = Readonly<{
  suggest(visit: Visit, prompts: readonly Prompt[]): void;
  /** Sets the status of a thread's session. While it is `working`, Slack shows a stop button (U15). */
  showWork: NonNullable<Channel['showWork']>;
  /** Resolves once Slack knows the newest status of every session. */
  settled(): Promise<void>;
}>;

const mostPrompts = 4;

export function createAgentView({
  call,
  clock,
  log,
  unstoppable,
}: Readonly<{
  call: CallSlack;
  clock: Clock;
  log: Log;
  /** Called if the app does not hear of its stop button, so that Slack shows none. */
  unstoppable(): void;
}>): AgentView {
  const show: CallSlackLater = (method, args) => {
    call(method, args).catch((error: unknown) => {
      const code = slackErrorCode(error);
      log.debug(
        { err: code === undefined ? error : undefined, code, method },
        'the agent view could not be changed',
      );
    });
  };
  const sessions = createAgentSessions({ call, clock, log, unstoppable });
  return {
    suggest({ conversation }, prompts) {
      // With a thread_ts Slack shows them nowhere, and reports no error.
      show('assistant.threads.setSuggestedPrompts', {
        channel_id: conversation.chat,
        prompts: prompts.slice(0, mostPrompts).map(toSlackPrompt),
      });
    },
    showWork: sessions.show,
    settled: sessions.settled,
  };
}

type CallSlackLater = (method: string, args: Readonly<Record<string, unknown>>) => void;

/** A prompt as Slack has it. Slack's client does not send messages that begin with a slash. */
function toSlackPrompt(prompt: Prompt): Readonly<{ title: string; message: string }> {
  return { title: prompt.title, message: 'start' in prompt ? `!${prompt.start}` : prompt.say };
}
