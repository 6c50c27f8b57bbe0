import type { ThreadPartners, Conversation } from '../core/conversation.ts';
import type { TelegramSettings } from '../channels/telegram/create-telegram.ts';
import type { Config } from '../config/complete-config.ts';
import type { Channel } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';
import { hostAndPort } from '../lib/text/text.ts';

export type ChannelNeeds = Readonly<{
  hasAnswered(conversation: Conversation): Promise<boolean>;
  partners: ThreadPartners;
  skillNames(): readonly string[];
  isAtWork(conversation: Conversation): Promise<boolean>;
  lead(what: string, until: AbortSignal): Promise<AbortSignal>;
  /** Reserves room in limits that processes share. Never rejects. Undefined without a shared store. */
  reserve?: Store['reserve'];
  log: Log;
  clock: Clock;
}>;

export function hasChannels({ telegram, slack }: Config): boolean {
  return telegram.token !== undefined || slack.botToken !== undefined;
}

/** Opens the channels of the config, without starting them. Only their modules are loaded. */
export async function openChannels(config: Config, needs: ChannelNeeds): Promise<readonly Channel[]> {
  const channels: Channel[] = [];
  const { telegram, slack } = config;
  const { feedback } = config.bot;
  if (telegram.token !== undefined) {
    const { createTelegram } = await import('../channels/telegram/create-telegram.ts');
    const {
      token,
      apiRoot,
      mode,
      paced,
      reaction,
      webhookUrl: url,
      webhookSecret: secret,
      listen,
    } = telegram;
    const settings = {
      token,
      apiRoot,
      mode,
      webhook:
        url === undefined || secret === undefined ? undefined : { url, secret, listen: hostAndPort(listen) },
      paced,
      feedback,
      reaction: reaction === '' ? undefined : (reaction as NonNullable<TelegramSettings['reaction']>),
    };
    channels.push(createTelegram(settings, needs));
  }
  if (slack.botToken !== undefined) {
    const { createSlack } = await import('../channels/slack/create-slack.ts');
    const { botToken, appToken, signingSecret, mode, apiUrl, command, threadFollow, agentView } = slack;
    const listen = hostAndPort(slack.listen);
    const reaction = slack.reaction === '' ? undefined : slack.reaction;
    channels.push(
      createSlack(
        { botToken, appToken, signingSecret, mode, apiUrl, listen },
        { command, threadFollow, agentView, reaction, feedback, paced: true },
        needs,
      ),
    );
  }
  return channels;
}
