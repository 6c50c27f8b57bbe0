import type { App } from '../app.ts';
import type { ExplainAccess } from '../access/explained.ts';
import type { Feature } from '../core/feature.ts';
import { createApprovalsFeature } from '../features/approvals/feature.ts';
import { createAuthoring } from '../features/authoring/feature.ts';
import { createCapabilitiesFeature } from '../features/capabilities/feature.ts';
import { createGroupDecisions } from '../features/groups/feature.ts';
import { createMcpFeature } from '../features/mcp/feature.ts';
import { createMemory } from '../features/memory/feature.ts';
import { createPairingDecisions } from '../features/pairing/feature.ts';
import { createPlugins } from '../features/plugins/feature.ts';
import { createRoutines } from '../features/routines/feature.ts';
import { createSettings } from '../features/settings/feature.ts';
import { createToolList } from '../features/tool-list/feature.ts';
import { createWeb } from '../features/web/feature.ts';
import { createWhy } from '../features/why/feature.ts';
import type { BotParts } from './bot.ts';

/** The features of a bot, and what of them operators use. */
export type Features = ReturnType<typeof createFeatures>;

/**
 * Everything that is optional in the bot, one line each. In this order they get messages that they wait for, and show what
 * they have.
 */
export function createFeatures(app: App, { plugins }: Pick<BotParts, 'plugins'>, explain: ExplainAccess) {
  const approvals = createApprovalsFeature(app);
  const authoring = createAuthoring(app);
  const capabilities = createCapabilitiesFeature(app, plugins.providers);
  const mcp = createMcpFeature(app);
  const all: readonly Feature[] = [
    createSettings(app),
    approvals,
    authoring,
    capabilities,
    createGroupDecisions(app),
    createMemory(app),
    createPairingDecisions(app),
    createPlugins(app, plugins),
    mcp,
    createRoutines(app),
    createToolList(app),
    createWhy({ ...app, explain, features: () => all }),
    createWeb(app),
  ];
  return { all, approvals, authoring, capabilities, mcp };
}
