import type { ChatType } from './conversation.ts';

/** What the operator says of one skill: `[skills.NAME]`. Ids are strings, bare or qualified. */
export type SkillSettings = Readonly<{
  enabled?: boolean;
  sensitive?: boolean;
  chatTypes?: readonly ChatType[];
  allowChatIds?: readonly string[];
  allowUsers?: readonly string[];
}>;

/** What decides over skills: `[skills] enabled`, every `[skills.NAME]` and `[skills.defaults]`. */
export type SkillRules = Readonly<{
  /** False switches every skill off, for everybody. */
  enabled: boolean;
  defaults: Readonly<{ allowChatIds?: readonly string[] }>;
  skills: ReadonlyMap<string, SkillSettings>;
}>;

/** One level of `[access]`; what is absent is taken from the level above. */
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
  /** Qualified sender ids of `[bot] owner`. */
  owners: readonly string[];
  general: AccessLevel;
  /** By channel name. */
  channels: ReadonlyMap<string, AccessLevel>;
  /** By chat id, as written in `[access.chats."ID"]`. */
  chats: ReadonlyMap<string, AccessLevel>;
  /** Members of other Slack workspaces may talk. */
  allowExternal: boolean;
}>;
