import type { App } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { createWebTools } from '../../tools/web/create-web-tools.ts';
import { webFetchRows } from '../../tools/web/web-fetch.ts';
import { webSearchRows } from '../../tools/web/web-search.ts';
import type { FeatureKit } from '../kit.ts';

/** Search in the web, and pages of it (T2). */
export const web = { create: createWeb, tools: { ...webFetchRows, ...webSearchRows } } satisfies FeatureKit;

function createWeb(app: App): Feature {
  const tools = createWebTools({ ...app, config: () => app.runtime().config });
  return {
    name: 'web',
    settings: tools,
    turn: async () => ({ tools: tools() }),
    run: async () => tools(),
    withoutUse: () => (app.config().tools.web_search === undefined ? Object.keys(webSearchRows) : []),
  };
}
