import { aliasOf, type Models, type Model } from '../core/model.ts';
import type { Clock } from '../lib/clock.ts';
import type { Config } from '../config/complete-config.ts';
import { keyPlace } from '../config/model-aliases.ts';
import { ModelError, type ForOperator } from '../core/errors.ts';
import { nameModel } from '../tools/settings/chat-agent.ts';
import type { Replies } from '../replies/replies.ts';

const hourMs = 3_600_000;

/** Tells owners that a model fails, at most once an hour (M14). */
export function createModelNotices(options: {
  tell: Replies['tellOwners'];
  config(): Config;
  clock: Clock;
  onFault(error: unknown): void;
}): (models: Models) => Models {
  const { tell, config, clock, onFault } = options;
  const told = new Map<string, number>();

  function report(alias: string, { said, look }: ForOperator): void {
    const now = clock.now();
    if (now - (told.get(alias) ?? -hourMs) < hourMs) return;
    told.set(alias, now);
    // The key is the same in every process, so that owners are told once.
    const key = `model:${alias}:${Math.floor(now / hourMs)}`;
    const { models } = config();
    const model = nameModel(models, alias);
    const place =
      look === 'endpoint'
        ? `[models.${aliasOf(models, alias)}] model and base_url`
        : keyPlace(config(), alias);
    const check = look === 'account' ? `the account of ${place}` : place;
    tell(key, (say) => say`My language model ${model} does not answer. ${said} Check ${check}.`).catch(
      onFault,
    );
  }

  function reporting(model: Model): Model {
    return {
      ...model,
      async complete(...asked) {
        try {
          return await model.complete(...asked);
        } catch (error) {
          if (error instanceof ModelError && error.forOperator !== undefined)
            report(model.alias, error.forOperator);
          throw error;
        }
      },
    };
  }

  return (models) => ({
    ...models,
    get: (name, around = (model) => model) => models.get(name, (model) => around(reporting(model))),
  });
}
