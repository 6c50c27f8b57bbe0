import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { CallSlack } from './call-slack.ts';
import { shownName, type Names } from './shown-name.ts';
import { slackErrorCode, tokenErrors, toSendError } from './slack-error.ts';

/** What people are called and speak: asked of Slack, kept for a day, a missing name for five minutes. */
export type NameLookup = Readonly<{
  /**
   * The names of these users (`U…`, `W…`) that are known or learned within half a second. Never throws and never waits
   * longer, as a message is acknowledged only after it (Q1): who is missing is called by the id.
   */
  of(users: readonly string[]): Promise<Names>;
  /** The language tag of this user's client, if it was learned with their name. */
  languageOf(user: string): string | undefined;
}>;

export function createNameLookup(call: CallSlack, log: Log, clock: Clock): NameLookup {
  const cache = new Map<string, Readonly<{ name: string | undefined; language?: string; until: number }>>();
  /** Users asked about now, each with the wait for the answer, which ends before the call where that is slow. */
  const asking = new Map<string, Promise<void>>();
  const paused = { until: 0 };

  const known = (user: string) => {
    const entry = cache.get(user);
    return entry !== undefined && entry.until > clock.now() ? entry : undefined;
  };

  const keep = (user: string, name: string | undefined, language?: string | null): void => {
    cache.delete(user);
    const [oldest] = cache.keys();
    if (cache.size >= mostKept && oldest !== undefined) cache.delete(oldest);
    const until = clock.now() + (name === undefined ? 5 * minute : 24 * 60 * minute);
    cache.set(user, { name, ...(language ? { language } : {}), until });
  };

  const ask = async (user: string): Promise<void> => {
    try {
      const asked = { user, include_locale: true };
      const { real_name, name, profile, locale } = answer.parse(await call('users.info', asked)).user;
      keep(user, shownName(profile?.display_name, profile?.real_name, real_name, name), locale);
    } catch (error) {
      const code = slackErrorCode(error);
      const { message, retryAfterMs } = toSendError(error, 'a look at a name');
      const useless = retryAfterMs !== undefined || (code !== undefined && tokenErrors.includes(code));
      if (useless) paused.until = clock.now() + (retryAfterMs ?? 5 * minute);
      else keep(user, undefined);
      log[useless ? 'warn' : 'debug']({ user, code, why: message }, 'Slack name not found out');
    }
  };

  const waitFor = async (answered: Promise<void>): Promise<void> => {
    const enough = new AbortController();
    try {
      await Promise.race([answered, clock.sleep(patienceMs, enough.signal)]);
    } finally {
      enough.abort();
    }
  };

  const learn = async (user: string): Promise<void> => {
    const pending = asking.get(user);
    if (pending !== undefined) return pending;
    if (asking.size >= mostAsked || clock.now() < paused.until) return;
    const answered = ask(user);
    const wait = waitFor(answered);
    asking.set(user, wait);
    void answered.then(() => asking.delete(user));
    return wait;
  };

  return {
    async of(users) {
      const people = [...new Set(users)].filter((user) => /^[UW]\w+$/.test(user));
      await Promise.all(people.filter((user) => known(user) === undefined).map(learn));
      return new Map(
        people.flatMap((user) => {
          const name = known(user)?.name;
          return name === undefined ? [] : [[user, name] as const];
        }),
      );
    },
    languageOf: (user) => known(user)?.language,
  };
}

const patienceMs = 500;
const minute = 60_000;
const mostKept = 10_000;
/** Calls under way at once: they share the SDK's hundred with the answers, which must not wait behind them. */
const mostAsked = 20;

const text = z.string().nullish().catch(undefined);
const answer = z.object({
  user: z.object({
    name: text,
    real_name: text,
    locale: text,
    profile: z.object({ display_name: text, real_name: text }).nullish().catch(undefined),
  }),
});
