/**
 * Loaded first (`node --import`) by every process of `npm test`: sources come from the one file of `keepSources`, `?kept=`
 * in this one's URL. A process that loads a bot takes 0.67 s of user time, instead of 0.85 s.
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
