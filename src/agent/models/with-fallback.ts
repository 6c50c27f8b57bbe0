import { ModelError } from '../../core/errors.ts';
import {
  fallbackCauses,
  noTokens,
  type FallbackCause,
  type Model,
  type ModelAnswer,
  type Share,
} from '../../core/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

/** The step of a request from one model to the next. Both are aliases. */
export type Hop = Readonly<{ model: string; fallback: string; cause: FallbackCause }>;

/** Models that gave no answer a moment ago, by alias. */
export type Resting = Map<string, Readonly<{ until: number; cause: FallbackCause }>>;

/** Causes that fit every request, so that the next one need not find out. */
const lasting: readonly FallbackCause[] = ['busy', 'down', 'key', 'credit'];
/** How long a model that failed is asked last, in milliseconds. */
const restMs = 60_000;

export type FallbackDeps = Readonly<{
  /** For which causes the next model is asked. Default: for all but a refusal. */
  on?: readonly FallbackCause[] | undefined;
  resting: Resting;
  onHop?(hop: Hop): void;
  log: Log;
  clock: Clock;
}>;

/** A model's answer, or why it gave none. */
type Outcome = Readonly<
  | { answer: ModelAnswer; cause?: FallbackCause }
  | { answer?: undefined; failure: ModelError; cause: FallbackCause | undefined }
>;

/**
 * A model that lets the next of `models` answer if one gives no answer, by cause (M18). For a minute after such a fault
 * the model is asked last. Once words were shown, the words of the next models are not: the whole answer takes their
 * place.
 */
export function withFallback(models: readonly [Model, ...Model[]], deps: FallbackDeps): Model {
  const [first] = models;
  const { on = fallbackCauses.filter((cause) => cause !== 'refusal'), resting, onHop, log, clock } = deps;
  const restOf = ({ alias }: Model): FallbackCause | undefined => {
    const rest = resting.get(alias);
    return rest !== undefined && rest.until > clock.now() ? rest.cause : undefined;
  };
  const hop = (from: Model, to: Model, cause: FallbackCause, failure?: ModelError): void => {
    log.warn(
      { model: from.alias, fallback: to.alias, cause, error: failure?.message },
      'the fallback model is asked',
    );
    onHop?.({ model: from.alias, fallback: to.alias, cause });
  };

  return {
    ...first,
    bindsThinking: models.some(({ bindsThinking }) => bindsThinking === true),
    async complete(request, signal, onText) {
      const left = [...models.filter((one) => !restOf(one)), ...models.filter((one) => restOf(one))];
      const shares: Share[] = [];
      const failures: ModelError[] = [];
      let shownBy: Model | undefined;
      let model = left.shift() ?? first;
      const rest = restOf(first);
      if (model !== first && rest !== undefined) {
        hop(first, model, rest);
        shares.push({ alias: first.alias, tokens: noTokens, cause: rest });
      }
      for (;;) {
        const now = model;
        const outcome = await outcomeOf(async () =>
          now.complete(request, signal, (text) => {
            shownBy ??= now;
            if (shownBy === now) onText?.(text);
          }),
        );
        const { answer, cause } = outcome;
        const next = cause !== undefined && on.includes(cause) ? takeNext(left, now, cause) : undefined;
        if (answer === undefined) failures.push(outcome.failure);
        if (next === undefined || cause === undefined) {
          if (answer === undefined) throw worstOf(failures);
          if (shares.length === 0) return answer;
          return { ...answer, shares: [...shares, { alias: now.alias, tokens: answer.tokens }] };
        }
        if (lasting.includes(cause)) resting.set(now.alias, { until: clock.now() + restMs, cause });
        hop(now, next, cause, answer === undefined ? outcome.failure : undefined);
        shares.push({ alias: now.alias, tokens: answer?.tokens ?? noTokens, cause });
        model = next;
      }
    },
  };
}

async function outcomeOf(ask: () => Promise<ModelAnswer>): Promise<Outcome> {
  try {
    const answer = await ask();
    return answer.stopReason === 'refusal' ? { answer, cause: 'refusal' } : { answer };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { failure: error, cause: error.why };
  }
}

/** Takes the next model out of the list. What was too long for one is not shown to one with no larger window. */
function takeNext(left: Model[], after: Model, cause: FallbackCause): Model | undefined {
  const isNoLarger = ({ contextWindow: own }: Model): boolean =>
    own !== undefined && after.contextWindow !== undefined && own <= after.contextWindow;
  while (cause === 'too_long' && left[0] !== undefined && isNoLarger(left[0])) left.shift();
  return left.shift();
}

/** The failure that helps most: a shorter request may do, or the same one later. */
function worstOf(failures: readonly ModelError[]): unknown {
  return failures.find(({ tooLong }) => tooLong) ?? failures.find(({ passing }) => passing) ?? failures[0];
}
