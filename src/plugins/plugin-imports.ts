import { registerHooks } from 'node:module';
import path from 'node:path';

// This file's own ending: of sources, or of what was made of them.
const door = new URL(`../plugin${path.extname(import.meta.url)}`, import.meta.url).href;

/**
 * From here on every plugin that imports `skillet/plugin` gets the one of this bot, wherever the plugin lies, and one that has
 * no `zod` of its own the bot's. Gives what ends it.
 */
export function openPluginImports(): () => void {
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === 'skillet/plugin') return nextResolve(door, context);
      try {
        return nextResolve(specifier, context);
      } catch (error) {
        if (!isZod(specifier) || !isAbsent(error)) throw error;
        return nextResolve(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
  return () => hooks.deregister();
}

function isZod(specifier: string): boolean {
  return specifier === 'zod' || specifier.startsWith('zod/');
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}
