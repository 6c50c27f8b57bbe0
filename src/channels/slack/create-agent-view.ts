import type { Prompt, Visit } from '../../core/channel.ts';
import type { Log } from '../../lib/log.ts';
import type { Message } from '../../core/message.ts';
import { oneLine } from '../../lib/text/text.ts';
import { slackErrorCode, type CallSlack } from './slack-error.ts';

/** Slack's agent view around a direct message (H4). Nothing waits for these calls. */
export type AgentView = Readonly<{
  suggest(visit: Visit, prompts: readonly Prompt[]): void;
  title(message: Message): void;
}>;

const mostPrompts = 4;
const longestTitle = 80;

export function createAgentView(call: CallSlack, log: Log): AgentView {
  const show: CallSlackLater = (method, args) => {
    call(method, args).catch((error: unknown) => {
      const code = slackErrorCode(error);
      log.debug(
        { err: code === undefined ? error : undefined, code, method },
        'the agent view could not be changed',
      );
    });
  };
  return {
    suggest({ conversation }, prompts) {
      // With a thread_ts Slack shows them nowhere, and reports no error.
      show('assistant.threads.setSuggestedPrompts', {
        channel_id: conversation.chat,
        prompts: prompts.slice(0, mostPrompts).map(toSlackPrompt),
      });
    },
    title({ conversation, chatType, platformId, command, text }) {
      const { chat, thread } = conversation;
      const [question = ''] = text.trim().split('\n');
      if (chatType !== 'private' || thread === undefined || thread !== platformId) return;
      if (command !== undefined || question === '') return;
      show('agents.sessions.setStatus', {
        channel_id: chat,
        thread_ts: thread,
        status: 'active',
        title: oneLine(question, longestTitle),
      });
    },
  };
}

type CallSlackLater = (method: string, args: Readonly<Record<string, unknown>>) => void;

/** A prompt as Slack has it. Slack's client does not send messages that begin with a slash. */
function toSlackPrompt(prompt: Prompt): Readonly<{ title: string; message: string }> {
  return { title: prompt.title, message: 'start' in prompt ? `!${prompt.start}` : prompt.say };
}
