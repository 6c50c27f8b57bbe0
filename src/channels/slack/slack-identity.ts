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
