import { randomUUID } from 'node:crypto';
import {
  bridgeResults,
  type CapabilityDefinition,
  type CapabilityOperation,
} from '../../src/features/capabilities/bridge-contract.ts';
import {
  describeHeard,
  skipped,
  unlessError,
  verdict,
  sampleInput,
  type Heard,
  type Probe,
  type CheckResult,
  type Rule,
} from './check-probe.ts';
import { noAccount } from './check-tokens.ts';
import { findCredential } from '../../src/features/capabilities/capability-checks.ts';
import { jsonSchemaCheck } from '../../src/lib/json/json-schema-check.ts';

/** What of a provider may be carried out for real. */
export type CheckedPerson = Readonly<{
  /** An account of the person the check is made for; absent: only what needs none. */
  account?: string;
  /** Mutating operations that may be carried out, twice under one key: `notes.book:add`. */
  mutate: readonly string[];
  /** Inputs by operation, where one made from the schema would not do. */
  inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}>;

/** Holds operations to what they define (C1, C5, C8). */
export async function checkOperations(
  probe: Probe,
  definitions: readonly CapabilityDefinition[],
  { account, mutate, inputs }: CheckedPerson,
  report: (result: CheckResult) => void,
): Promise<void> {
  for (const { id, operations, allowed_chat_types } of definitions) {
    const identity = { chatType: allowed_chat_types[0] ?? 'private' } as const;
    for (const [name, operation] of Object.entries(operations)) {
      const called = `${id}:${name}`;
      const input = inputs[called] ?? sampleInput(operation.input_schema);
      const call = (input_data: object, account_ref: string | null, key: string | null) => {
        const of = { capability_id: id, operation: name, input_data, account_ref };
        return probe.call('invoke', { ...of, idempotency_key: key }, { identity });
      };
      if (operation.mutating) {
        if (!mutate.includes(called))
          report(skipped(`${called} is done once for one key`, `only with --mutate ${called}`));
        else if (input === undefined) report(skipped(`${called} is done once for one key`, noInput(called)));
        else if (operation.requires_auth && account === undefined)
          report(skipped(`${called} is done once for one key`, noPerson));
        else
          await checkMutation(
            called,
            operation,
            input,
            (data, key) => call(data, account ?? null, key),
            report,
          );
        continue;
      }
      if (operation.requires_auth && input !== undefined)
        report(
          verdict(
            needsAccount(called),
            unlessError(await call(input, noAccount, null), 'capability_auth_required'),
          ),
        );
      const answered = `${called} answers what it defines`;
      if (input === undefined) report(skipped(answered, noInput(called)));
      else if (operation.requires_auth && account === undefined) report(skipped(answered, noPerson));
      else {
        const heard = await call(input, operation.requires_auth ? (account ?? null) : null, null);
        const made = inputs[called] === undefined;
        // An input made from the schema may name what is not there.
        if (made && heard.kind === 'error' && heard.code === 'capability_invalid_input')
          report(skipped(answered, `${heard.message}: ${noInput(called)}`));
        else report(verdict(answersDefined(called), outputProblem(heard, operation)));
      }
    }
  }
}

/** Holds a provider to names that it does not know (C7). */
export async function checkNames(
  probe: Probe,
  [first]: readonly CapabilityDefinition[],
  report: (result: CheckResult) => void,
): Promise<void> {
  if (first === undefined) return;
  const identity = { chatType: first.allowed_chat_types[0] ?? 'private' } as const;
  const params = { input_data: {}, account_ref: null, idempotency_key: null };
  for (const [what, capability_id, operation, ...more] of [
    ['an unknown capability', `${probe.provider.namespace}.no-such-capability`, 'list'],
    ['an unknown operation', first.id, 'no-such-operation', 'capability_invalid_input'],
  ] as const) {
    const heard = await probe.call('invoke', { ...params, capability_id, operation }, { identity });
    report(verdict(unknown(what), unlessError(heard, 'capability_not_found', ...more)));
  }
}

async function checkMutation(
  called: string,
  operation: CapabilityOperation,
  input: object,
  call: (input: object, key: string | null) => Promise<Heard>,
  report: (result: CheckResult) => void,
): Promise<void> {
  const key = randomUUID();
  report(verdict(needsKey(called), unlessError(await call(input, null), 'capability_invalid_input')));
  const first = await call(input, key);
  const problem = outputProblem(first, operation);
  report(verdict(answersDefined(called), problem));
  if (problem !== undefined) return report(skipped(once(called).what, 'it could not be carried out'));
  const second = await call(input, key);
  const same =
    second.kind === 'result' &&
    first.kind === 'result' &&
    JSON.stringify(second.result) === JSON.stringify(first.result);
  report(
    verdict(once(called), same ? undefined : `first ${describeHeard(first)}; then ${describeHeard(second)}`),
  );
}

function outputProblem(heard: Heard, { output_schema }: CapabilityOperation): string | undefined {
  if (heard.kind !== 'result') return describeHeard(heard);
  const read = bridgeResults.invoke.safeParse(heard.result);
  if (!read.success) return `the result has no output, an object: ${describeHeard(heard)}`;
  const { output } = read.data;
  const credential = findCredential(output);
  if (credential !== undefined) return `there is what looks like a credential at ${credential}`;
  return jsonSchemaCheck(output_schema)(output);
}

const noPerson = 'it needs an account: name one with --user and --account';
const noInput = (called: string): string =>
  `no such input could be made from its schema alone; give one with --input '${called}={…}'`;

const unknown = (what: string): Rule => ({
  what: `${what} is capability_not_found`,
  why: 'the bot may still know what an earlier version had',
  fix: 'answer the error capability_not_found after the token was checked',
});
const needsAccount = (called: string): Rule => ({
  what: `${called} with an account nobody has is capability_auth_required`,
  why: 'the bot then offers the person to link theirs; an account of somebody else must not be found by its name',
  fix: 'look accounts up by the user of the token and account_ref together',
});
const answersDefined = (called: string): Rule => ({
  what: `${called} answers what it defines`,
  why: 'the bot throws away whatever does not match output_schema',
  fix: 'answer {"output":{…}} that matches output_schema, or correct the schema',
});
const needsKey = (called: string): Rule => ({
  what: `${called} without an idempotency key is refused`,
  why: 'without a key a call that is made again after a crash is done twice',
  fix: 'answer capability_invalid_input before doing anything',
});
const once = (called: string): Rule => ({
  what: `${called} is done once for one key, and answered the same`,
  why: 'after a crash the bot makes the same call again, to learn how it went',
  fix: 'store the outcome under (user, key) in the same transaction as the change, and answer it again',
});
