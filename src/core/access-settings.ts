import type { ChatType } from './conversation.ts';

/** Who sits at the bot's own terminal, and owns the bot there (H5). */
export const terminalOwner = 'owner';
export const terminalOwnerId = `terminal:${terminalOwner}`;

/** `[skills.NAME]`. Ids are bare or qualified. */
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

/** `[access]`; absent: as the level above. */
export type AccessLevel = Readonly<{
  users?: readonly string[];
  groups?: readonly string[];
  groupUsers?: readonly string[];
  dm?: 'pairing' | 'allowlist' | 'open';
  groupsMode?: 'allowlist' | 'open';
  mention?: 'required' | 'always';
}>;

/** Who may talk to the bot (A9). */
export type AccessSettings = Readonly<{
  /** Qualified. */
  owners: readonly string[];
  general: AccessLevel;
  channels: ReadonlyMap<string, AccessLevel>;
  /** As in `[access.chats."ID"]`. */
  chats: ReadonlyMap<string, AccessLevel>;
  /** Members of other Slack workspaces may talk. */
  allowExternal: boolean;
}>;
