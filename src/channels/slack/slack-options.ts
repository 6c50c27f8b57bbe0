import type { RateLimiter, Reserve } from '../rate-limiter.ts';
import type { ThreadPartners } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ChatLookup, NameLookup } from './look-up.ts';
import type { CallSlack } from './slack-error.ts';

export type SlackApp = Readonly<{
  /** `xoxb-…` */
  botToken: string;
  /** `xapp-…` with connections:write, for Socket Mode. */
  appToken?: string;
  signingSecret?: string;
  mode: 'socket' | 'http';
  /** For test servers. */
  apiUrl?: string;
  listen?: Readonly<{ host: string; port: number }>;
}>;

export type SlackSettings = Readonly<{
  command: string;
  /** Until somebody else speaks (H11). */
  threadFollow: boolean;
  /** Each message to the bot begins a thread (H4). */
  agentView?: boolean;
  /** An emoji (H13). */
  reaction?: string;
  /** One message a second a channel (H8). */
  paced: boolean;
}>;

export type SlackDeps = Readonly<{
  hasAnswered(conversation: Conversation): Promise<boolean>;
  partners: ThreadPartners;
  isAtWork(conversation: Conversation): Promise<boolean>;
  /** Given if other processes send in the bot's name (H8). */
  reserve?: Reserve;
  log: Log;
  clock: Clock;
}>;

export type SlackPaces = Readonly<Record<'posts' | 'edits' | 'homes' | 'starts' | 'appends', RateLimiter>>;

export type SlackIdentity = Readonly<{
  /** `T…`: members of others are guests (A9). */
  team: string;
  /** `U…` or `W…` */
  user: string;
  name?: string;
  /** `B…`: on its own posts. */
  botId?: string;
  /** `A…` */
  appId?: string;
  /** Of the workspace. */
  url?: string;
  /** Of the bot token, if Slack told them. */
  scopes?: readonly string[];
  /** Of any name; it means `/skill` (I1). */
  command: string;
  agentView?: boolean;
}>;

export function userOf(sender: string): string {
  return sender.slice(sender.indexOf(':') + 1);
}

export type SlackApi = Readonly<{
  call: CallSlack;
  me: SlackIdentity;
  chats: ChatLookup;
  names: NameLookup;
}>;
