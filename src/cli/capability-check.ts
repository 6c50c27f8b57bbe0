import type { CheckResult } from '../../providers/check/check-probe.ts';
import { configuredProviders } from '../features/capabilities/configured-providers.ts';
import { printable } from '../lib/text/text.ts';
import { openConfig } from './open-config.ts';
import type { SharedOptions } from './command.ts';
import { print, printJson } from './console.ts';

type CapabilityCheckOptions = SharedOptions &
  Readonly<{
    namespace: string;
    user?: string;
    account?: string;
    mutate?: readonly string[];
    input?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  }>;

/** Holds a provider to its contract. Exit code 1 for problems, 2 if the provider is not set up. */
export async function checkCapability(options: CapabilityCheckOptions): Promise<void> {
  const { namespace, json = false, user, account, mutate = [], input = {} } = options;
  const { get, all, problems } = configuredProviders(await openConfig(options.config));
  const provider = get(namespace);
  if (provider === undefined) {
    const names = all.map((each) => each.namespace).join(', ') || 'none';
    console.error(
      `There is no provider of ${namespace} in the configuration: it has a command at [capabilities.providers.${namespace}], or comes with a skill. Set up are: ${names}.`,
    );
    for (const problem of problems) console.error(problem);
    process.exitCode = 2;
    return;
  }
  const { checkProvider } = await import('../../providers/check/check-provider.ts');
  const results = await checkProvider(provider, {
    user,
    account,
    mutate,
    inputs: input,
    env: process.env,
    signal: new AbortController().signal,
    onResult: json ? () => undefined : printResult,
  });
  const count = (verdict: CheckResult['verdict']): number =>
    results.filter((result) => result.verdict === verdict).length;
  const counts = {
    ok: count('ok'),
    failed: count('failed'),
    warned: count('warned'),
    skipped: count('skipped'),
  };
  if (counts.failed > 0) process.exitCode = 1;
  if (json) return printJson({ namespace, ...counts, results });
  const others = [
    ...(counts.warned > 0 ? [`${counts.warned} warned`] : []),
    ...(counts.skipped > 0 ? [`${counts.skipped} not tried`] : []),
  ];
  print([`${counts.ok} right, ${counts.failed} wrong`, ...others].join(', '));
}

const marks = { ok: 'ok  ', failed: 'FAIL', warned: 'warn', skipped: 'skip' } as const;

function printResult({ what, verdict, found, why, fix }: CheckResult): void {
  print(`${marks[verdict]}  ${what}`);
  if (found !== undefined) print(`      ${verdict === 'skipped' ? 'because' : 'found'}: ${printable(found)}`);
  if (why !== undefined) print(`      why: ${why}`);
  if (fix !== undefined) print(`      fix: ${fix}`);
}
