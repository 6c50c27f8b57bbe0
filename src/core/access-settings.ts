import type { ChatType } from './conversation.ts';

/** Name of the person at the bot's own terminal, who is an owner there (H5). */
export const terminalOwner = 'owner';
export const terminalOwnerId = `terminal:${terminalOwner}`;

/** One `[skills.NAME]` of the config. Ids are bare or qualified; a member that is undefined changes nothing. */
export type SkillSettings = Readonly<{
  enabled?: boolean;
  sensitive?: boolean;
  chatTypes?: readonly ChatType[];
  allowChatIds?: readonly string[];
  allowUsers?: readonly string[];
}>;

export type SkillRules = Readonly<{
  enabled: boolean;
  defaults: Readonly<{ allowChatIds?: readonly string[] }>;
  skills: ReadonlyMap<string, SkillSettings>;
}>;

/** Rules of one level of `[access]`. A member that is undefined is as in the level above. */
export type AccessLevel = Readonly<{
  users?: readonly string[];
  groups?: readonly string[];
  groupUsers?: readonly string[];
  dm?: 'pairing' | 'allowlist' | 'open';
  groupsMode?: 'allowlist' | 'open';
  mention?: 'required' | 'always';
}>;

/** Who may talk to the bot: the general rules, and those of channels and chats (A9). */
export type AccessSettings = Readonly<{
  /** Ids of the owners, each with its channel, such as `telegram:42`. */
  owners: readonly string[];
  general: AccessLevel;
  channels: ReadonlyMap<string, AccessLevel>;
  /** Rules by the ID of `[access.chats."ID"]`. */
  chats: ReadonlyMap<string, AccessLevel>;
  /** True if members of other Slack workspaces may talk. */
  allowExternal: boolean;
}>;
