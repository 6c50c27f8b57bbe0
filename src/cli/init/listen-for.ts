import { randomInt } from 'node:crypto';
import { openChannels, type ChannelNeeds } from '../../bot/open-channels.ts';
import { parseConfig } from '../../config/parse-config.ts';
import { formatConfigProblem } from '../../config/config-problem.ts';
import type { Channel, ChannelEvent } from '../../core/channel.ts';
import { chatIdOf, type Conversation } from '../../core/conversation.ts';
import { OperatorError } from '../../core/errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { quietLog } from '../skills-here.ts';
import { secretsOf, type InitAnswers, type FoundPerson } from './answers.ts';
import { configText } from './config-text.ts';

/** Listens on the real channels before there is a bot. Nothing that arrives is stored. */
export type PersonListening = AsyncDisposable &
  Readonly<{
    /**
     * The person who sends this code in a direct message on one of these channels. Rejects with OperatorError when the
     * time (ms) is over.
     */
    owner(wanted: Readonly<{ code: string; on: readonly string[] }>, withinMs: number): Promise<FoundPerson>;
    /**
     * The next group that one of these people adds the bot to. Rejects with OperatorError when the time (ms) is over.
     */
    group(owners: readonly string[], withinMs: number): Promise<FoundPerson>;
  }>;

type Wanted = (event: ChannelEvent, channel: Channel) => Promise<FoundPerson | undefined>;

export async function listenFor(answers: InitAnswers): Promise<PersonListening> {
  const variables = Object.fromEntries(secretsOf(answers).map(({ variable, value }) => [variable, value]));
  const parsed = parseConfig(configText(answers), { env: variables });
  if (!parsed.ok) throw new OperatorError(parsed.problems.map(formatConfigProblem).join('\n'));
  const channels = await openChannels(parsed.config, needs);
  const waiting = new Set<(event: ChannelEvent, channel: Channel) => Promise<void>>();
  const started: Channel[] = [];
  const stop = async (): Promise<void> => void (await Promise.all(started.map((one) => one.stop())));
  try {
    for (const channel of channels) {
      started.push(channel);
      await channel.start(async (event) => {
        for (const look of waiting) await look(event, channel);
      });
    }
  } catch (error) {
    await stop();
    throw error;
  }

  async function first(wanted: Wanted, what: string, withinMs: number): Promise<FoundPerson> {
    const found = Promise.withResolvers<FoundPerson>();
    const late = setTimeout(
      () => found.reject(new OperatorError(`${what} within ${withinMs / 1_000} s.`)),
      withinMs,
    );
    const look = async (event: ChannelEvent, channel: Channel): Promise<void> => {
      const one = await wanted(event, channel);
      if (one !== undefined) found.resolve(one);
    };
    waiting.add(look);
    try {
      return await found.promise;
    } finally {
      clearTimeout(late);
      waiting.delete(look);
    }
  }

  return {
    owner: (wanted, withinMs) => first(saysCode(wanted), 'Nobody sent the code', withinMs),
    group: (owners, withinMs) => first(addedBy(owners), 'No owner added the bot to a group', withinMs),
    [Symbol.asyncDispose]: stop,
  };
}

const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** A code of 50 random bits, so that nobody guesses it while it counts. */
export function newCode(): string {
  return Array.from({ length: 10 }, () => letters[randomInt(letters.length)]).join('');
}

function saysCode({ code, on }: Readonly<{ code: string; on: readonly string[] }>): Wanted {
  return async (event, channel) => {
    if (event.type !== 'message') return undefined;
    const { text, chatType, sender, conversation, id } = event.message;
    if (chatType !== 'private' || sender.kind !== 'person' || !on.includes(conversation.channel))
      return undefined;
    if (
      !text
        .toUpperCase()
        .split(/[\s_]+/)
        .includes(code)
    )
      return undefined;
    await tell(channel, conversation, id);
    return { id: sender.id, name: sender.name };
  };
}

/** Tells the person that the code was right. If that fails, the wizard continues, because it knows the owner. */
async function tell(channel: Channel, conversation: Conversation, id: string): Promise<void> {
  const markdown = 'That is the code. You are my owner now; the set-up continues in your terminal.';
  await channel.send(conversation, { markdown }, `init:${id}`).catch(() => undefined);
}

function addedBy(owners: readonly string[]): Wanted {
  return async (event, channel) => {
    if (event.type !== 'joined' || event.by === undefined || !owners.includes(event.by.id)) return undefined;
    const { name } = await channel.lookUpChat(event.conversation);
    return { id: chatIdOf(event.conversation), name };
  };
}

const needs: ChannelNeeds = {
  hasAnswered: async () => false,
  partners: { get: async () => undefined, set: async () => undefined },
  skillNames: () => [],
  isAtWork: async () => false,
  lead: async () => new AbortController().signal,
  log: quietLog,
  clock: systemClock,
};
