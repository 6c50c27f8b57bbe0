import type { App } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { createWebTools } from '../../tools/web/create-web-tools.ts';

/** Search in the web, and pages of it (T2). */
export const web = { create: createWeb };

function createWeb(app: App): Feature {
  const tools = createWebTools({ ...app, config: () => app.runtime().config });
  return { name: 'web', settings: tools, turn: async () => ({ tools: tools() }), run: async () => tools() };
}
