import { describeHeard, type Heard } from './check-probe.ts';

/** One thing that a provider was held to. `warned`: it is in order, and still worth a look. */
export type CheckResult = Readonly<{
  /** What was tried and expected, as a sentence. */
  what: string;
  verdict: 'ok' | 'failed' | 'warned' | 'skipped';
  /** What came instead, or why it was not tried. */
  found?: string;
  /** Why it matters. */
  why?: string;
  /** What to change. */
  fix?: string;
}>;

/** Why a rule is there, and what to do where it is not kept. */
export type Rule = Readonly<{ what: string; why: string; fix: string }>;

/** Passes where `found` is nothing. */
export function verdict(
  rule: Rule,
  found: string | undefined,
  missed: 'failed' | 'warned' = 'failed',
): CheckResult {
  return found === undefined ? { what: rule.what, verdict: 'ok' } : { ...rule, verdict: missed, found };
}

export function skipped(what: string, found: string): CheckResult {
  return { what, verdict: 'skipped', found };
}

/** What was heard in place of one of these errors; nothing where it was one of them. */
export function unlessError(heard: Heard, ...codes: readonly string[]): string | undefined {
  return heard.kind === 'error' && (codes.length === 0 || codes.includes(heard.code))
    ? undefined
    : describeHeard(heard);
}

export function unlessResult(heard: Heard): string | undefined {
  return heard.kind === 'result' ? undefined : describeHeard(heard);
}
