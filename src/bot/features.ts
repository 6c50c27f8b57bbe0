import type { AnswerPress, Feature } from '../core/feature.ts';
import { approvalsFeature } from '../features/approvals/feature.ts';
import { authoringFeature } from '../features/authoring/feature.ts';
import { capabilitiesFeature } from '../features/capabilities/feature.ts';
import { groupsFeature } from '../features/groups/feature.ts';
import { memoryFeature } from '../features/memory/feature.ts';
import { pairingFeature } from '../features/pairing/feature.ts';
import { routinesFeature } from '../features/routines/feature.ts';
import { settingsFeature } from '../features/settings/feature.ts';
import type { Base } from './create-base.ts';
import type { Features } from './create-features.ts';

/** All that is optional in the bot, a line each. */
export function featuresOf({ host, people }: Base, parts: Features): readonly Feature[] {
  const { log } = host;
  const { approvals, authoring, capabilities, routines, tools } = parts;
  return [
    approvalsFeature({ approvals }),
    authoringFeature({ authoring, log }),
    capabilitiesFeature({ confirmations: capabilities.confirmations, log }),
    groupsFeature({ ...people, log }),
    memoryFeature({ memory: tools.showMemory }),
    pairingFeature({ ...people, log }),
    routinesFeature({ routines }),
    settingsFeature({ settings: tools.settings }),
  ];
}

/** Throws if two features answer the same buttons. */
export function pressesOf(features: readonly Feature[]): ReadonlyMap<string, AnswerPress> {
  const all = features.flatMap(({ presses = {} }) => Object.entries(presses));
  const table = new Map(all);
  if (table.size < all.length) throw new Error('two features answer buttons of the same name');
  return table;
}
