import type { Meter } from '../../core/meter.ts';
import type { Model } from '../../core/model.ts';
import type { Vitals } from './vitals.ts';

/** The model, its requests and tokens counted under its alias (L4). */
export function measureModel(model: Model, meter: Meter, vitals: Pick<Vitals, 'model'>): Model {
  const { alias } = model;
  const ended = (outcome: Parameters<Vitals['model']>[1]): void => {
    meter.count('model_requests', { model: alias, outcome });
    vitals.model(alias, outcome);
  };
  return {
    ...model,
    async complete(request, signal, onText) {
      try {
        const answer = await model.complete(request, signal, onText);
        ended('ok');
        const { input, output, cacheRead, cacheWrite } = answer.tokens;
        const kinds = { input, output, cache_read: cacheRead, cache_write: cacheWrite } as const;
        for (const kind of ['input', 'output', 'cache_read', 'cache_write'] as const)
          meter.count('model_tokens', { model: alias, kind }, kinds[kind]);
        return answer;
      } catch (error) {
        ended(signal.aborted ? 'cancelled' : 'failed');
        throw error;
      }
    },
  };
}
