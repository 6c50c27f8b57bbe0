import type { CacheTtl } from '../../core/model.ts';
import type { Log } from '../../lib/log.ts';
import type { ReadAnswer } from './read-answer.ts';

/** What is known of the requests that begin with the same system prompt and tools. */
type Known = Readonly<{ at: number; pays: boolean; id: string | undefined }>;

/** How long the start of a request is kept. */
type Start = Readonly<{
  ttl: '5m' | '1h';
  /** True if the cache should hold it, because such a request came within the time that it was kept. */
  expected: boolean;
  /** Id of the answer to that request. */
  before: string | undefined;
  /** Call with the id of the answer, if the server gave one. */
  answered(id: string | undefined): void;
}>;

/** Decides how long a model's cache keeps the start of its requests (M20). One for each model. */
export type CacheRhythm = Readonly<{
  /** Call before a request whose system prompt and tools have this digest. */
  ask(digest: string, now: number): Start;
}>;

const minuteMs = 60_000;
const keptMs = { '5m': 5 * minuteMs, '1h': 60 * minuteMs };
const mostKnown = 100;

/**
 * `auto` keeps them for an hour once such requests came 5 to 60 minutes apart: a write for an hour costs 2 times the
 * input, one for 5 minutes 1.25 times, which is lost if the next request comes later.
 */
export function createCacheRhythm(setting: CacheTtl): CacheRhythm {
  const known = new Map<string, Known>();
  return {
    ask(digest, now) {
      const last = known.get(digest);
      const gap = last === undefined ? Infinity : now - last.at;
      const isSlow = gap > keptMs['5m'] && gap <= keptMs['1h'];
      const pays = isSlow || (last?.pays === true && gap <= keptMs['1h']);
      const was = setting === 'auto' ? (last?.pays === true ? '1h' : '5m') : setting;
      // A map keeps its order, so the oldest is the first.
      known.delete(digest);
      known.set(digest, { at: now, pays, id: last?.id });
      const [oldest] = known.keys();
      if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
      const ttl = setting === 'auto' ? (pays ? '1h' : '5m') : setting;
      return {
        ttl,
        expected: gap < keptMs[was],
        before: last?.id,
        answered: (id) => void known.set(digest, { at: now, pays, id }),
      };
    },
  };
}

/** Says in the log that the cache did not hold what it should, which costs money (M20). */
export function noteCache(
  { expected, answered }: ReturnType<CacheRhythm['ask']>,
  { id, tokens: { cacheRead, cacheWrite = 0 }, cacheMiss }: ReadAnswer,
  { alias, log }: Readonly<{ alias: string; log: Log }>,
): void {
  answered(id);
  if (!expected || cacheRead !== undefined || cacheWrite === 0) return;
  const reason = cacheMiss ?? 'unknown: system prompt and tools were the same';
  log.warn({ model: alias, reason, tokens: cacheWrite }, 'the prompt cache did not hold what it should');
}
