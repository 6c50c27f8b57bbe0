import { randomUUID } from 'node:crypto';
import type { BridgeProvider } from '../../core/bridge-provider.ts';
import type { CapabilityCode } from '../../core/codes.ts';
import type { Log } from '../../lib/log.ts';
import { isShallow, parseJson, createCountValues, valuesLimit } from '../../lib/json/json-values.ts';
import { oneLine } from '../../lib/text/text.ts';
import {
  answerLevels,
  bridgeAnswer,
  bridgeResults,
  bridgeVersion,
  type BridgeMethod,
  type BridgeParams,
  type BridgeRequest,
  type BridgeResults,
} from './bridge-contract.ts';
import type { EndWithUs } from '../../lib/processes/end-with-us.ts';
import { answerLimit, runProgram } from '../../lib/processes/run-program.ts';

/** Why a call failed. `message` is for a model, so it has nothing of the program's stderr in it. */
export type CapabilityFailure = Readonly<{ ok: false; code: CapabilityCode; message: string }>;
export type CapabilityOutcome<Value> = Readonly<{ ok: true; value: Value }> | CapabilityFailure;

export function failure(code: CapabilityCode, message: string): CapabilityFailure {
  return { ok: false, code, message };
}

/**
 * Makes one request to a provider, in a process of its own (C2). It takes at most the timeout and half a second. Throws
 * only the reason of `signal`.
 */
export async function callBridge<Method extends BridgeMethod>(
  provider: BridgeProvider,
  method: Method,
  params: BridgeParams[Method],
  options: Readonly<{
    environment: Readonly<Record<string, string>>;
    signal: AbortSignal;
    endWithUs: EndWithUs;
    log: Log;
  }>,
): Promise<CapabilityOutcome<BridgeResults[Method]>> {
  const { namespace, command, timeoutSeconds } = provider;
  const request: BridgeRequest<Method> = {
    version: bridgeVersion,
    id: randomUUID(),
    namespace,
    method,
    params,
  };
  const process = await runProgram({
    command,
    input: `${JSON.stringify(request)}\n`,
    timeoutMs: timeoutSeconds * 1_000,
    env: options.environment,
    signal: options.signal,
    endWithUs: options.endWithUs,
  });
  const outcome = read(request, process);
  if (!outcome.ok) {
    const { code, message } = outcome;
    const { ended, complaint } = process;
    options.log.warn(
      { namespace, method, code, ended, complaint: oneLine(complaint, 500) },
      `a capability provider failed: ${oneLine(message, 300)}`,
    );
  }
  return outcome;
}

function read<Method extends BridgeMethod>(
  { id, namespace, method }: BridgeRequest<Method>,
  process: Awaited<ReturnType<typeof runProgram>>,
): CapabilityOutcome<BridgeResults[Method]> {
  const unavailable = (why: string) =>
    failure('capability_backend_unavailable', `the provider of ${namespace} ${why}`);
  const invalid = (why: string) =>
    failure('capability_invalid_output', `the provider of ${namespace} ${why}`);
  switch (process.ended) {
    case 'absent':
      return unavailable('could not be started');
    case 'signal':
      return unavailable('crashed');
    case 'timeout':
      return unavailable('did not answer in time');
    case 'held':
      return unavailable('ended, but left a process behind that holds its output');
    case 'too much':
      return invalid(`answered with more than ${answerLimit} bytes`);
    case 'exit':
  }
  if (process.code !== 0) return unavailable(`ended with exit code ${process.code}`);
  const text = decode(process.output);
  if (text === undefined) return invalid('answered with something that is no UTF-8');
  if (text.trim() === '') return invalid('answered with nothing');
  if (createCountValues()(text) > valuesLimit)
    return invalid(`answered with more than ${valuesLimit} values`);
  const parsed = parseJson(text);
  if (parsed === undefined) return invalid('answered with something that is not one JSON object');
  if (!isShallow(parsed, answerLevels)) return invalid(`answered with more than ${answerLevels} levels`);
  const answer = bridgeAnswer.safeParse(parsed);
  if (!answer.success) return invalid(`answered out of form: ${firstProblem(answer.error)}`);
  const { id: answered, result, error } = answer.data;
  if (answered !== id) return invalid('answered under another id');
  if (error !== undefined) return failure(error.code, oneLine(error.message, 500));
  const shape = bridgeResults[method].safeParse(result);
  if (!shape.success) return invalid(`gave a result out of form: ${firstProblem(shape.error)}`);
  return { ok: true, value: shape.data as BridgeResults[Method] };
}

function decode(output: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(output);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Says where the answer is wrong, without quoting the value. */
function firstProblem(
  error: Readonly<{ issues: readonly { path: readonly PropertyKey[]; message: string }[] }>,
) {
  const [issue] = error.issues;
  return issue === undefined
    ? 'unknown'
    : `${issue.path.map(String).join('.') || 'the answer'}: ${issue.message}`;
}
