import { registerHooks } from 'node:module';
import path from 'node:path';

// The file is `.ts` in the sources and `.js` when built.
const door = new URL(`../../plugin${path.extname(import.meta.url)}`, import.meta.url).href;

/**
 * Lets plugins import this bot's `skillet/plugin`, and its `zod` if they bring none. Returns a function that ends this.
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
