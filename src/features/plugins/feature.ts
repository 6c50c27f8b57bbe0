import type { App } from '../../app.ts';
import type { Feature } from '../../core/feature.ts';
import type { Opened } from '../kit.ts';
import { createPluginCalls } from './plugin-calls.ts';

/** Brings the tools of plugins to the main agent and to runs (X1). */
export const plugins = { create: createPlugins };

function createPlugins(app: App, { plugins: opened }: Opened): Feature {
  const calls = createPluginCalls({ ...app, sandbox: app.skillSandbox.sandbox }, app);
  return {
    name: 'plugins',
    outside: opened.source(() => app.runtime().config, calls),
    notices: async () => opened.diagnostics.map(({ message }) => app.runtime().redact(message)),
  };
}
