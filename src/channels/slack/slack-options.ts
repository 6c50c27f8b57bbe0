import type { RateLimiter, Reserve } from '../rate-limiter.ts';
import type { ThreadPartners, Conversation } from '../../core/conversation.ts';
import type { ThumbsBy } from '../../core/rating.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ChatLookup, NameLookup } from './look-up.ts';
import type { CallSlack } from './slack-error.ts';

export type SlackApp = Readonly<{
  /** The bot token, which begins with `xoxb-`. */
  botToken: string;
  /** The app token, `xapp-…` with connections:write, for Socket Mode. */
  appToken?: string;
  signingSecret?: string;
  mode: 'socket' | 'http';
  /** Another address of Slack's API, for test servers. */
  apiUrl?: string;
  listen?: Readonly<{ host: string; port: number }>;
}>;

export type SlackSettings = Readonly<{
  command: string;
  /** Follow a thread without mentions, until somebody else speaks (H11). */
  threadFollow: boolean;
  /** If true, each message to the bot begins a thread (H4). */
  agentView?: boolean;
  /** Name of the emoji that confirms receipt; undefined for none (H13). */
  reaction?: string;
  /** How people rate answers, from the config: by buttons with the agent view, else by reactions (U17). */
  feedback?: ThumbsBy | 'off';
  /** If true, at most one message a second goes to a channel (H8). */
  paced: boolean;
}>;

export type SlackDeps = Readonly<{
  hasAnswered(conversation: Conversation): Promise<boolean>;
  partners: ThreadPartners;
  isAtWork(conversation: Conversation): Promise<boolean>;
  /** Set if other processes send in the bot's name, too (H8). */
  reserve?: Reserve;
  log: Log;
  clock: Clock;
}>;

/** How people rate answers unless the config says otherwise (U17). */
export function usualThumbs(agentView = false): ThumbsBy {
  return agentView ? 'buttons' : 'reactions';
}

/** Whether people rate answers by reactions, so that the app needs to hear of them. */
export function takesReactions(feedback: SlackSettings['feedback'], agentView?: boolean): boolean {
  return (feedback ?? usualThumbs(agentView)) === 'reactions';
}

export type SlackPaces = Readonly<Record<'posts' | 'edits' | 'homes' | 'starts' | 'appends', RateLimiter>>;

export type SlackIdentity = Readonly<{
  /** The bot's team, `T…`. Members of other teams are guests (A9). */
  team: string;
  /** The bot's user id, which begins with `U` or `W`. */
  user: string;
  name?: string;
  /** The bot's id, `B…`, as it is on its own posts. */
  botId?: string;
  /** The app's id, which begins with `A`. */
  appId?: string;
  /** Address of the workspace in Slack. */
  url?: string;
  /** Scopes of the bot token, if Slack told them. */
  scopes?: readonly string[];
  /** The slash command. Whatever its name, it means `/skill` (I1). */
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
