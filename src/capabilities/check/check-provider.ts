import type { BridgeProvider } from '../call-bridge.ts';
import { checkAuth } from './check-auth.ts';
import { checkFraming } from './check-framing.ts';
import { checkNames, checkOperations, type CheckedPerson } from './check-operations.ts';
import { createProbe } from './check-probe.ts';
import { checkDefinitions } from '../definitions.ts';
import { skipped, verdict, type CheckResult } from './check-result.ts';
import { checkTokens, harmlessCall } from './check-tokens.ts';

export type CheckOptions = CheckedPerson &
  Readonly<{
    env: Readonly<Record<string, string | undefined>>;
    /** Whom its calls are made for; absent: somebody the provider has never heard of. */
    user?: string;
    signal: AbortSignal;
    onResult(result: CheckResult): void;
  }>;

/**
 * Holds a provider to the whole contract (C1, C2, C3, C6, C7, C8): starts it some thirty times, rightly and wrongly, with a key made
 * for this. What exists at the provider is not changed but by operations that are named in `mutate`. All results, in order.
 */
export async function checkProvider(
  provider: BridgeProvider,
  { env, user, signal, onResult, ...person }: CheckOptions,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  const report = (result: CheckResult): void => {
    results.push(result);
    onResult(result);
  };
  const probe = createProbe(provider, { env, signal, ...(user === undefined ? {} : { user }) });
  const definitions = await checkFraming(probe, report);
  if (definitions === undefined) {
    report(skipped('everything else', 'its definitions could not be read'));
    return results;
  }
  if (!checkDefinitions(provider.namespace, definitions).ok) {
    report(skipped('everything else', 'the bot would not take its definitions'));
    return results;
  }
  const harmless = harmlessCall(definitions);
  if (harmless === undefined) report(skipped('its tokens', 'it defines no capability'));
  else await checkTokens(probe, harmless, report);
  await checkNames(probe, definitions, report);
  for (const capability of definitions) {
    if (Object.values(capability.operations).some(({ requires_auth }) => requires_auth))
      await checkAuth(probe, capability, report);
  }
  await checkOperations(probe, definitions, person, report);
  const { ms, what } = probe.slowest();
  const limit = provider.timeoutSeconds * 500;
  const slow = `${what} took ${(ms / 1_000).toFixed(1)} s of ${provider.timeoutSeconds} s`;
  report(verdict(timely, ms > limit ? slow : undefined, 'warned'));
  return results;
}

const timely = {
  what: 'every call took less than half of its time',
  why: 'a slow day would otherwise end calls with capability_backend_unavailable',
  fix: 'start faster, or give it more by timeout_seconds in config (300 at most)',
};
