import type { Desk } from '../app.ts';
import type { Config } from '../config/complete-config.ts';
import { ownToolRows } from '../conversations/own-tools.ts';
import { ownCommandRows } from '../conversations/own-commands.ts';
import { toolTable, type ToolTable } from '../core/built-in-tools.ts';
import { commandTable, type CommandTable } from '../core/chat-commands.ts';
import { allHashes, type AtRest } from '../core/feature.ts';
import { checkMainTools, mainToolReasons } from '../tools/main-tools.ts';
import { approvals } from './approvals/feature.ts';
import { authoring } from './authoring/feature.ts';
import { capabilities } from './capabilities/feature.ts';
import { feedback } from './feedback/feature.ts';
import { groups } from './groups/feature.ts';
import { hooks } from './hooks/feature.ts';
import type { ConfigFinding, FeatureKit, FindingReason } from './kit.ts';
import { mcp } from './mcp/feature.ts';
import { memory } from './memory/feature.ts';
import { pairing } from './pairing/feature.ts';
import { plugins } from './plugins/feature.ts';
import { routines } from './routines/feature.ts';
import { settings } from './settings/feature.ts';
import { spending } from './spending/feature.ts';
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
  feedback,
  groups,
  hooks,
  memory,
  pairing,
  plugins,
  mcp,
  routines,
  spending,
  toolList,
  why,
  web,
] as const;

export const featureList: readonly FeatureKit[] = listed;

/** All commands of chats, in the order of menus: first those of the bot itself, then those of features. */
export function allCommands(): CommandTable {
  return commandTable([ownCommandRows, ...featureList.map(({ commands = {} }) => commands)]);
}

/** All built-in tools, in the order of `/tools`: first those of the bot itself, then those of features. */
export function allTools(): ToolTable {
  return toolTable([...ownToolRows, ...featureList.map(({ tools = {} }) => tools)]);
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

/** The reasons of findings that features have, by code (L2). */
export function featureReasons(): Readonly<Record<string, FindingReason>> {
  const ofFeatures = featureList.flatMap(({ reasons = {} }) => Object.entries(reasons));
  return { ...mainToolReasons, ...Object.fromEntries(ofFeatures) };
}

/** What is wrong with a config by what the features bring, and by what they check (G2). */
export function featureChecks(config: Config): readonly ConfigFinding[] {
  return [
    ...checkMainTools(config, allTools()),
    ...featureList.flatMap(({ checks }) => checks?.(config) ?? []),
  ];
}
