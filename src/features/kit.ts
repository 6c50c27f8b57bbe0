import type { App, Desk } from '../app.ts';
import type { ExplainAccess } from '../access/explained.ts';
import type { Config } from '../config/complete-config.ts';
import type { KeyPath } from '../config/section.ts';
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

/** What a check of a config found, as `config check` and `start` show it (G2). */
export type ConfigFinding = Readonly<{
  level: 'error' | 'warning';
  code: 'ROUTINE_UNUSABLE';
  key: KeyPath;
  message: string;
}>;

/** A feature as its folder exports it. */
export type FeatureKit = Readonly<{
  /** Makes it for a running bot. */
  create(app: App, opened: Opened): Feature;
  /** Its chat commands: their lines in menus and in `/help`. `create` brings the answers. */
  commands?: CommandRows;
  /** What operators can do while no bot runs. */
  atRest?(desk: Desk): AtRest;
  /** What is wrong with a config before it is in force. */
  checks?(config: Config): readonly ConfigFinding[];
}>;
