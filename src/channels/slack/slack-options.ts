import type { Reserve } from '../rate-limiter.ts';
import type { ThreadPartners } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

/** What the Slack channel needs. */
export type SlackOptions = Readonly<{
  /** `xoxb-…` */
  botToken: string;
  /** `xapp-…` with connections:write; for Socket Mode. */
  appToken?: string;
  /** For HTTP mode. */
  signingSecret?: string;
  mode: 'socket' | 'http';
  /** Base of the Web API, for test servers. */
  apiUrl?: string;
  /** Where HTTP mode listens; Slack posts to `/slack/events` there. */
  listen?: Readonly<{ host: string; port: number }>;
  /** The registered slash command, with its slash. */
  command: string;
  /** Who talks with the bot in a thread need not mention it again, until somebody else speaks there (H11). */
  threadFollow: boolean;
  /** The app has Slack's agent view: each message to the bot begins a thread (H4). */
  agentView?: boolean;
  /** Whether the bot ever answered in this conversation. */
  hasAnswered(conversation: Conversation): Promise<boolean>;
  /** Who talks with the bot in a thread; kept for all processes. */
  partners: ThreadPartners;
  /** Whether a message of this conversation waits or is being answered, in whatever process. */
  isAtWork(conversation: Conversation): Promise<boolean>;
  /** Name of the emoji that is set on a message when it is stored to be answered (H13). */
  reaction?: string;
  /** Keep to one message a second a channel (H8). */
  paced: boolean;
  /** Given where other processes send in the bot's name, too (H8). */
  reserve?: Reserve;
  log: Log;
  clock: Clock;
}>;

/** Who the bot is in the workspace that it is installed in. */
export type SlackIdentity = Readonly<{
  /** `T…`: the home workspace. Members of any other are guests (A9). */
  team: string;
  /** `U…` or `W…`: the bot's user, the one that people mention. */
  user: string;
  /** What people type after `@`. */
  name?: string;
  /** `B…`: what its own posts carry besides the user. */
  botId?: string;
  /** `A…` */
  appId?: string;
  /** Scopes that its token lacks, where Slack tells. */
  missing?: readonly string[];
  /** The registered slash command, with its slash: whatever it is called, it means `/skill` (I1). */
  command: string;
  /** The app has Slack's agent view. */
  agentView?: boolean;
}>;

/** The user id inside a sender's id: `U1` of `slack:U1`. */
export function userOf(sender: string): string {
  return sender.slice(sender.indexOf(':') + 1);
}
