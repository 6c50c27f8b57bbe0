import type { Taint } from '../core/entry.ts';
import type { Model } from '../core/model.ts';

/**
 * Returns the model without the search of its server once private data came into the conversation: what it searches for
 * could carry some of that away (S7, M21). Looked up before each request.
 */
export function whileUnmarked(model: Model, taint: () => Promise<Taint | undefined>): Model {
  return {
    ...model,
    async complete(request, ...rest) {
      const isMarked = request.searchesWeb === true && (await taint()) !== undefined;
      return model.complete(isMarked ? { ...request, searchesWeb: false } : request, ...rest);
    },
  };
}
