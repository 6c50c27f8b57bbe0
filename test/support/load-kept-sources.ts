/**
 * Loaded first (`node --import`) by every process of `npm test`: the hundreds of small files of the program come from the
 * one that `keepSources` wrote, `?kept=` in this one's URL. To look for, read and strip each takes a third of the time in
 * which a bot starts, and the tests start many. What is loaded is the same.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { KeptSources } from './keep-sources.ts';

const kept = readFileSync(new URL(import.meta.url).searchParams.get('kept') ?? '');
const start = kept.indexOf('\n') + 1;
const index = JSON.parse(kept.toString('utf8', 0, start)) as KeptSources;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('.') && context.parentURL?.startsWith('file:')) {
      const url = new URL(specifier, context.parentURL).href;
      if (index[url] !== undefined) return { url, format: 'module', shortCircuit: true };
      // A package's own file, which `import` names in full: its kind is looked up when it is loaded.
      if (/\/node_modules\/.*\.m?js$/.test(url) && context.conditions.includes('import'))
        return { url, shortCircuit: true };
    }
    return next(specifier, context);
  },
  load(url, context, next) {
    const place = index[url];
    if (place === undefined) return next(url, context);
    const [from, to] = place;
    return { format: 'module', source: kept.toString('utf8', start + from, start + to), shortCircuit: true };
  },
});
