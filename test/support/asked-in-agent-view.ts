import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';

export type AgentViewOptions = NonNullable<Parameters<typeof connectSlackChannel>[1]>;

/** A question in a direct message on Slack with the agent view, and what the bot did there since. */
export async function askedInAgentView(t: TestContext, options: AgentViewOptions = {}) {
  const connected = await connectSlackChannel(t, {
    ...options,
    channel: { agentView: true, ...options.channel },
  });
  const { slack } = connected;
  const anna = slack.workspace.addUser('anna');
  const question = slack.people.dm(anna, 'is it so?');
  await question.delivered;
  const place = { channel: 'slack', chat: question.channel, thread: question.ts };
  const room = slack.workspace.rooms.get(place.chat) ?? assert.fail();
  return {
    ...connected,
    ...{ anna, place, room },
    /** Messages of the bot, as they stand. */
    own: () => room.messages.filter(({ user, deleted }) => !deleted && user !== anna.id),
    /** Which methods wrote, in order, with their errors. */
    writes: () =>
      slack.calls.all().flatMap(({ method, answer }) => {
        if (!/^chat\./.test(method)) return [];
        const error =
          typeof answer === 'object' && answer['ok'] !== true ? ` ${String(answer['error'])}` : '';
        return [`${method.slice('chat.'.length)}${error}`];
      }),
  };
}
