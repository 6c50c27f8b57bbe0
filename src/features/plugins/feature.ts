import type { App } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import { createPluginCalls } from './plugin-calls.ts';
import type { Plugins } from './plugins.ts';

/** Brings the tools of plugins to the main agent and to runs (X1). */
export function createPlugins(app: App, plugins: Pick<Plugins, 'source' | 'diagnostics'>): Feature {
  const calls = createPluginCalls({ ...app, sandbox: app.skillSandbox.sandbox }, app);
  return {
    name: 'plugins',
    outside: plugins.source(() => app.runtime().config, calls),
    notices: async () => plugins.diagnostics.map(({ message }) => app.runtime().redact(message)),
  };
}
