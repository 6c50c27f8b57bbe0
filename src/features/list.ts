import type { Desk } from '../app.ts';
import type { Config } from '../config/complete-config.ts';
import { ownCommandRows } from '../conversations/own-commands.ts';
import { commandTable, type CommandTable } from '../core/chat-commands.ts';
import { allHashes, type AtRest } from '../core/feature.ts';
import { approvals } from './approvals/feature.ts';
import { authoring } from './authoring/feature.ts';
import { capabilities } from './capabilities/feature.ts';
import { groups } from './groups/feature.ts';
import { hooks } from './hooks/feature.ts';
import type { ConfigFinding, FeatureKit } from './kit.ts';
import { mcp } from './mcp/feature.ts';
import { memory } from './memory/feature.ts';
import { pairing } from './pairing/feature.ts';
import { plugins } from './plugins/feature.ts';
import { routines } from './routines/feature.ts';
import { settings } from './settings/feature.ts';
import { toolList } from './tool-list/feature.ts';
import { web } from './web/feature.ts';
import { why } from './why/feature.ts';

/**
 * Everything that is optional in the bot. In this order features get messages that they wait for, and show what they have.
 */
const listed = [
  settings,
  approvals,
  authoring,
  capabilities,
  groups,
  hooks,
  memory,
  pairing,
  plugins,
  mcp,
  routines,
  toolList,
  why,
  web,
] as const;

export const featureList: readonly FeatureKit[] = listed;

/** All commands of chats, in the order of menus: first those of the bot itself, then those of features. */
export function allCommands(): CommandTable {
  return commandTable([ownCommandRows, ...featureList.map(({ commands = {} }) => commands)]);
}

type OperationsOf<Kit> = Kit extends { atRest(desk: Desk): { operations: infer Rows } } ? Rows : never;
type Intersection<One> = (One extends unknown ? (one: One) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The operations of all features, with the types of their inputs and outputs. */
export type FeatureOperations = Intersection<OperationsOf<(typeof listed)[number]>>;

/** What features do for operators while no bot runs. */
export function featuresAtRest(desk: Omit<Desk, 'definitionHashes'>): readonly AtRest[] {
  const all: readonly AtRest[] = featureList.flatMap(
    ({ atRest }) => atRest?.({ ...desk, definitionHashes: () => allHashes(all) }) ?? [],
  );
  return all;
}

/** What features find wrong with a config (G2). */
export function featureChecks(config: Config): readonly ConfigFinding[] {
  return featureList.flatMap(({ checks }) => checks?.(config) ?? []);
}
