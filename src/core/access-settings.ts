import type { ChatType } from './conversation.ts';

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

/** One level of `[access]`; what is absent comes from the level above. */
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
  /** Qualified sender ids. */
  owners: readonly string[];
  general: AccessLevel;
  /** By channel name. */
  channels: ReadonlyMap<string, AccessLevel>;
  /** By chat id, as written in `[access.chats."ID"]`. */
  chats: ReadonlyMap<string, AccessLevel>;
  /** Members of other Slack workspaces may talk. */
  allowExternal: boolean;
}>;
