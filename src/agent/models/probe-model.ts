import { ModelError } from '../../core/errors.ts';
import type { ModelsSettings } from '../../core/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createModels } from './create-models.ts';

export type ModelProbe =
  Readonly<{ ok: true; model: string; ms: number }> | Readonly<{ ok: false; message: string }>;

const patienceMs = 20_000;

/** Asks a model for one word in the same way as a turn does. */
export async function probeModel(
  models: ModelsSettings,
  { name, clock, log }: Readonly<{ name?: string; clock: Clock; log: Log }>,
): Promise<ModelProbe> {
  const before = clock.now();
  const over = AbortSignal.timeout(patienceMs);
  const words = { role: 'user', content: 'Answer with the one word: ok' } as const;
  try {
    const { model } = await createModels(models, { log, clock })
      .get(name)
      .complete({ system: [], messages: [words], tools: [] }, over);
    return { ok: true, model, ms: clock.now() - before };
  } catch (error) {
    if (over.aborted) return { ok: false, message: `no answer within ${patienceMs / 1_000} s` };
    if (!(error instanceof ModelError)) throw error;
    return { ok: false, message: error.forOperator?.said ?? error.message };
  }
}
