import type { Reserve } from '../rate-limiter.ts';
import type { ThreadPartners } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

export type SlackOptions = Readonly<{
  /** `xoxb-…` */
  botToken: string;
  /** `xapp-…` with connections:write, for Socket Mode. */
  appToken?: string;
  signingSecret?: string;
  mode: 'socket' | 'http';
  /** For test servers. */
  apiUrl?: string;
  /** For `/slack/events` in HTTP mode. */
  listen?: Readonly<{ host: string; port: number }>;
  command: string;
  /** Thread partners need no mention until somebody else speaks (H11). */
  threadFollow: boolean;
  /** Each message to the bot begins a thread (H4). */
  agentView?: boolean;
  /** Whether the bot ever answered there. */
  hasAnswered(conversation: Conversation): Promise<boolean>;
  /** For all processes. */
  partners: ThreadPartners;
  /** In any process. */
  isAtWork(conversation: Conversation): Promise<boolean>;
  /** The receipt emoji (H13). */
  reaction?: string;
  /** One message a second a channel (H8). */
  paced: boolean;
  /** Given if other processes send in the bot's name (H8). */
  reserve?: Reserve;
  log: Log;
  clock: Clock;
}>;

export type SlackIdentity = Readonly<{
  /** `T…`: members of other teams are guests (A9). */
  team: string;
  /** `U…` or `W…`: the user that people mention. */
  user: string;
  name?: string;
  /** `B…`: on its own posts. */
  botId?: string;
  /** `A…` */
  appId?: string;
  /** If Slack tells. */
  missing?: readonly string[];
  /** Whatever its name, it means `/skill` (I1). */
  command: string;
  agentView?: boolean;
}>;

/** `U1` of `slack:U1`. */
export function userOf(sender: string): string {
  return sender.slice(sender.indexOf(':') + 1);
}
