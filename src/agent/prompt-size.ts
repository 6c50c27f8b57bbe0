import type { Entry } from '../core/entry.ts';
import type { ModelRequest, Tokens } from '../core/model.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { asStub, beginningOfLastTurn } from './stub-followed.ts';
import { newestSummary } from './view-entries.ts';

/**
 * Tokens of a request over these entries, roughly: what the API reported with the last answer and an estimate of what came
 * since. An estimate alone where nothing was reported, or so little that it can't have been the whole prompt (some
 * servers leave out what they had cached). Estimates are multiplied by the model's `tokenFactor`.
 */
export function promptSize(request: ModelRequest, entries: readonly Entry[], tokenFactor = 1): number {
  const estimated = estimateTokens(request) * tokenFactor;
  const last = entries.findLastIndex(({ kind }) => kind === 'assistant');
  const answer = entries[last];
  // An answer before the summary was made to a longer prompt.
  if (answer?.kind !== 'assistant' || last < newestSummary(entries).at) return estimated;
  const { input, cacheRead, cacheWrite, output }: Tokens = answer.tokens;
  const reported = input + cacheRead + cacheWrite + output;
  const since = entries.slice(last + 1).reduce((sum, entry) => sum + estimateTokens(entry), 0);
  const size = reported + (since - stubbedSince(entries, last)) * tokenFactor;
  return size * 2 < estimated ? estimated : size;
}

/** What the answer's prompt held of instructions that a turn begun since shows as one line each (T6). */
function stubbedSince(entries: readonly Entry[], last: number): number {
  if (beginningOfLastTurn(entries) <= last) return 0;
  const before = entries.slice(0, last);
  return before
    .slice(beginningOfLastTurn(before))
    .reduce((sum, entry) => sum + estimateTokens(entry) - estimateTokens(asStub(entry)), 0);
}
