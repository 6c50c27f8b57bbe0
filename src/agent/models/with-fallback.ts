import { ModelError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Model } from '../../core/model.ts';

/**
 * A model that another one stands in for, once its own tries are used up by a fault that passes (M4). Text that the
 * first has streamed is not streamed again.
 */
export function withFallback(first: Model, second: Model, log: Log): Model {
  return {
    ...first,
    async complete(request, signal, onText) {
      let streamed = false;
      try {
        return await first.complete(request, signal, (text) => {
          streamed = true;
          onText?.(text);
        });
      } catch (error) {
        if (!(error instanceof ModelError) || !error.passing) throw error;
        log.warn(
          { model: first.alias, fallback: second.alias, cause: error.message },
          'the fallback model is asked',
        );
        return second.complete(request, signal, streamed ? undefined : onText);
      }
    },
  };
}
