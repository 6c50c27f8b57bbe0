import type { AnswerCommand, AnswerPress, Feature } from '../core/feature.ts';
import { approvalsFeature } from '../features/approvals/feature.ts';
import { authoringFeature } from '../features/authoring/feature.ts';
import { capabilitiesFeature } from '../features/capabilities/feature.ts';
import { groupsFeature } from '../features/groups/feature.ts';
import { memoryFeature } from '../features/memory/feature.ts';
import { pairingFeature } from '../features/pairing/feature.ts';
import { routinesFeature } from '../features/routines/feature.ts';
import { settingsFeature } from '../features/settings/feature.ts';
import { toolListFeature } from '../features/tool-list/feature.ts';
import { whyFeature } from '../features/why/feature.ts';
import type { Why } from '../conversations/why.ts';
import type { Base } from './create-base.ts';
import type { Features } from './create-features.ts';

/** Everything that is optional in the bot, one line each. */
export function featuresOf({ host, people }: Base, parts: Features, why: Why): readonly Feature[] {
  const { log } = host;
  const { approvals, authoring, capabilities, chatAgent, routines, tools } = parts;
  return [
    approvalsFeature({ approvals }),
    authoringFeature({ authoring, log }),
    capabilitiesFeature({ confirmations: capabilities.confirmations, log }),
    groupsFeature({ ...people, log }),
    memoryFeature({ memory: tools.showMemory, turns: tools.memory }),
    pairingFeature({ ...people, log }),
    routinesFeature({ routines }),
    settingsFeature({ settings: tools.settings, chatAgent, routines }),
    toolListFeature({ listTools: tools.listTools }),
    whyFeature({ why }),
  ];
}

/** Which feature answers which buttons. Throws if two features answer the same ones. */
export function pressesOf(features: readonly Feature[]): ReadonlyMap<string, AnswerPress> {
  return tableOf(features.flatMap(({ presses = {} }) => Object.entries(presses)));
}

/** Which feature answers which commands. Throws if two features answer the same one. */
export function commandsOf(features: readonly Feature[]): ReadonlyMap<string, AnswerCommand> {
  return tableOf(features.flatMap(({ commands = {} }) => Object.entries(commands)));
}

function tableOf<Value>(rows: readonly (readonly [string, Value])[]): ReadonlyMap<string, Value> {
  const table = new Map(rows);
  if (table.size < rows.length) throw new Error('two features answer to the same name');
  return table;
}
