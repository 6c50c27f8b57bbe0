import { fallbackCauses } from './model.ts';

const named: readonly string[] = [];

/** Counters of the bot. Their labels hold no private data (L4). */
export const counters = {
  messages: {
    help: 'Messages for the bot, by what became of them when they arrived',
    labels: { outcome: ['accepted', 'merged', 'duplicate', 'queue_full'] },
  },
  answers: { help: 'Messages that were answered', labels: {} },
  failed_tries: { help: 'Tries to answer a message that failed', labels: {} },
  set_aside: { help: 'Messages that were set aside after their last try', labels: {} },
  sends: {
    help: 'Parts of answers: sent, put off for another try, given up; repeated are sends made again because their outcome was unknown',
    labels: { outcome: ['sent', 'retried', 'repeated', 'given_up'] },
  },
  model_requests: {
    help: 'Requests to language models, retries within one not counted',
    labels: { model: named, outcome: ['ok', 'failed', 'cancelled'] },
  },
  model_tokens: {
    help: 'Tokens as the models report them',
    labels: { model: named, kind: ['input', 'output', 'cache_read', 'cache_write'] },
  },
  model_fallbacks: {
    help: 'Requests that the next language model was asked, by cause',
    labels: { model: named, fallback: named, cause: fallbackCauses },
  },
  tool_calls: { help: 'Tool calls of models', labels: { tool: named, outcome: ['ok', 'error'] } },
  runs: { help: 'Skill runs that ended', labels: { skill: named, status: named } },
  hooks: {
    help: 'Requests to hooks, by what became of them; without a name where no hook has it',
    labels: {
      hook: named,
      outcome: [
        'accepted',
        'repeated',
        'unknown',
        'forged',
        'stale',
        'too_large',
        'malformed',
        'cut_off',
        'limited',
        'denied',
        'failed',
      ],
    },
  },
  store_outages: { help: 'Times that the store could not be read or written', labels: {} },
} as const satisfies Readonly<
  Record<string, Readonly<{ help: string; labels: Readonly<Record<string, readonly string[]>> }>>
>;

export type CounterName = keyof typeof counters;
type CounterLabels<Name extends CounterName> = Readonly<{
  [
    Label in keyof (typeof counters)[Name]['labels']
  ]: (typeof counters)[Name]['labels'][Label] extends readonly (infer Value)[] ? Value : never;
}>;

/** Counts what happens for the metrics. Its methods never throw. */
export type Meter = Readonly<{
  count<Name extends CounterName>(name: Name, labels: CounterLabels<Name>, by?: number): void;
  turn(seconds: number): void;
}>;

export const noMeter: Meter = { count: () => undefined, turn: () => undefined };
