import type { App, Desk } from '../app.ts';
import type { ExplainAccess } from '../access/explained.ts';
import type { Config } from '../config/complete-config.ts';
import type { KeyPath } from '../config/section.ts';
import type { ToolRows } from '../core/built-in-tools.ts';
import type { CommandRows } from '../core/chat-commands.ts';
import type { AtRest, Feature } from '../core/feature.ts';
import type { Plugins } from './plugins/plugins.ts';

/** What a few features get besides the shared parts. */
export type Opened = Readonly<{
  plugins: Plugins;
  explain: ExplainAccess;
  /** All features of the bot, this one among them. Call it only when something is said or heard. */
  features: () => readonly Feature[];
}>;

/** Why a finding matters, and what the operator can do. */
export type FindingReason = Readonly<{ why: string; fix: string }>;

/** What a check of a config found, as `config check` and `start` show it (G2). */
export type ConfigFinding = Readonly<{
  level: 'error' | 'warning';
  /** Its reason is the row of this name in `reasons`. */
  code: string;
  key: KeyPath;
  message: string;
}>;

/** A feature as its folder exports it. */
export type FeatureKit = Readonly<{
  /** Makes it for a running bot. */
  create(app: App, opened: Opened): Feature;
  /** Its tools: how people see them and who is offered them. `turn` and `run` bring the tools themselves. */
  tools?: ToolRows;
  /** Its chat commands: their lines in menus and in `/help`. `create` brings the answers. */
  commands?: CommandRows;
  /** What operators can do while no bot runs. */
  atRest?(desk: Desk): AtRest;
  /** What is wrong with a config before it is in force. `start`, `config check` and the doctor show it. */
  checks?(config: Config): readonly ConfigFinding[];
  /** By code, why a finding of `checks` matters and what to do about it, for the doctor (L2). */
  reasons?: Readonly<Record<string, FindingReason>>;
}>;
