import type { Clock } from '../../lib/clock.ts';
import type { CapabilityRecords } from '../../store/capability-records.ts';
import type { Accounts } from './capability-base.ts';
import { failure, type CapabilityFailure, type CapabilityOutcome } from './call-bridge.ts';
import type { BridgeProvider } from '../../core/bridge-provider.ts';
import { canonicalJson, hashJson } from '../../lib/json/json-values.ts';
import type { CapabilityKey } from '../../accounts/capability-key.ts';
import { namespaceOf, type ConfiguredProviders } from './configured-providers.ts';
import {
  findCredential,
  chooseAccount,
  judgeCaller,
  judgeInput,
  judgePlace,
  type CapabilityCaller,
} from './capability-checks.ts';
import type { Capability, CheckedOperation, Definitions } from './definitions.ts';
import type { SignedCalls } from './signed-call.ts';

/** What a call needs, and the only part that comes from the model (C3). */
export type CapabilityRequest = Readonly<{
  capability: string;
  operation: string;
  input: Readonly<Record<string, unknown>>;
  account?: string | undefined;
}>;

type PreparedCall = Readonly<{
  capability: string;
  operation: string;
  input: Readonly<Record<string, unknown>>;
  /** The account's name. Null if the operation needs none. */
  account: string | null;
  mutating: boolean;
  /** True if its outcome is stored already, so that nothing will be sent (C8). */
  done: boolean;
}>;

/** Exactly what a person confirms and what is then sent. */
type ShownCall = Readonly<{
  capability: string;
  operation: string;
  account: string;
  input: Readonly<Record<string, unknown>>;
}>;

type InvokedCall = Readonly<{ output: unknown; replayed: boolean }>;

export type InvokeCapability = Readonly<{
  /** Checks a call up to its account, before a person is asked (C5). */
  prepare(
    caller: CapabilityCaller,
    request: CapabilityRequest,
    signal: AbortSignal,
  ): Promise<CapabilityOutcome<PreparedCall>>;
  /**
   * Checks a call again, makes it, and checks the answer. A call that changes something is made only as it was
   * confirmed. If it is repeated, the stored outcome of this run and input is returned (C8).
   */
  invoke(
    caller: CapabilityCaller,
    request: CapabilityRequest,
    options: Readonly<{ agreed: unknown; signal: AbortSignal }>,
  ): Promise<CapabilityOutcome<InvokedCall>>;
  find(
    caller: CapabilityCaller,
    capability: string,
    signal: AbortSignal,
  ): Promise<CapabilityOutcome<Readonly<{ provider: BridgeProvider; definition: Capability }>>>;
}>;

export function createInvokeCapability(options: {
  providers: () => ConfiguredProviders;
  definitions: Definitions;
  accounts: Accounts;
  records: CapabilityRecords;
  key: () => Promise<CapabilityKey>;
  calls: SignedCalls;
  clock: Clock;
}): InvokeCapability {
  const { providers, definitions, accounts, records, key, calls, clock } = options;

  const find: InvokeCapability['find'] = async (caller, capability, signal) => {
    const refused = judgeCaller(caller, capability);
    if (refused !== undefined) return refused;
    const provider = providers().get(namespaceOf(capability));
    if (provider === undefined)
      return failure('capability_not_found', `no provider of ${capability} is set up on this host`);
    const known = await definitions(provider, signal);
    if (!known.ok) return known;
    const definition = known.value.get(capability);
    if (definition === undefined)
      return failure('capability_not_found', `the provider of ${provider.namespace} has no ${capability}`);
    const elsewhere = judgePlace(definition, caller.requester);
    return elsewhere ?? { ok: true, value: { provider, definition } };
  };

  async function gate(
    caller: CapabilityCaller,
    request: CapabilityRequest,
    signal: AbortSignal,
  ): Promise<
    CapabilityOutcome<
      Readonly<{ provider: BridgeProvider; operation: CheckedOperation; account: string | null }>
    >
  > {
    const found = await find(caller, request.capability, signal);
    if (!found.ok) return found;
    const operation = judgeInput(found.value.definition, request.operation, request.input);
    if (!operation.ok) return operation;
    const { sender } = caller.requester;
    const linked = operation.value.requires_auth
      ? await accounts.list({ sender, capability: request.capability })
      : [];
    const account = chooseAccount(
      operation.value,
      linked.map(({ ref }) => ref),
      request.account,
    );
    if (!account.ok) return account;
    const { provider } = found.value;
    return { ok: true, value: { provider, operation: operation.value, account: account.value } };
  }

  async function outcomeOf(idempotencyKey: string): Promise<Readonly<{ output: unknown }> | undefined> {
    const sealed = await records.outcome(idempotencyKey);
    if (sealed === undefined) return undefined;
    return { output: (await key()).open(sealed, `outcome ${idempotencyKey}`) };
  }

  return {
    find,
    async prepare(caller, request, signal) {
      const gated = await gate(caller, request, signal);
      if (!gated.ok) return gated;
      const { operation, account } = gated.value;
      const { capability, input } = request;
      const { mutating } = operation;
      const done = mutating && (await outcomeOf(idempotencyKeyOf(caller, request, account))) !== undefined;
      return {
        ok: true,
        value: { capability, operation: request.operation, input, account, mutating, done },
      };
    },
    async invoke(caller, request, { agreed, signal }) {
      const gated = await gate(caller, request, signal);
      if (!gated.ok) return gated;
      const { provider, operation, account } = gated.value;
      const idempotencyKey = operation.mutating ? idempotencyKeyOf(caller, request, account) : null;
      if (idempotencyKey !== null) {
        const stored = await outcomeOf(idempotencyKey);
        if (stored !== undefined) return { ok: true, value: { ...stored, replayed: true } };
        if (canonicalJson(agreed ?? null) !== canonicalJson(shownCall(request, account)))
          return failure(
            'capability_mutation_not_confirmed',
            'what would be sent is not what the person agreed to: nothing was done',
          );
      }
      const answer = await calls.call(
        provider,
        'invoke',
        {
          capability_id: request.capability,
          operation: request.operation,
          input_data: request.input,
          account_ref: account,
          idempotency_key: idempotencyKey,
        },
        caller,
        signal,
      );
      if (!answer.ok) return answer;
      const problem = judgeOutput(operation, answer.value.output);
      if (problem !== undefined) return problem;
      if (idempotencyKey === null)
        return { ok: true, value: { output: answer.value.output, replayed: false } };
      await records.keepOutcome({
        key: idempotencyKey,
        sender: caller.requester.sender,
        sealed: (await key()).seal(answer.value.output, `outcome ${idempotencyKey}`),
        at: clock.now(),
      });
      return { ok: true, value: { output: answer.value.output, replayed: false } };
    },
  };
}

export function shownCall(request: CapabilityRequest, account: string | null): ShownCall {
  const { capability, operation, input } = request;
  return { capability, operation, account: account ?? 'none', input };
}

/** Checks an answer against its schema, and looks for credentials in it (C5). Undefined: it is good. */
function judgeOutput(operation: CheckedOperation, output: unknown): CapabilityFailure | undefined {
  const problem = operation.checkOutput(output);
  if (problem !== undefined)
    return failure('capability_invalid_output', `the provider’s output does not fit its schema: ${problem}`);
  const credential = findCredential(output);
  return credential === undefined
    ? undefined
    : failure(
        'capability_invalid_output',
        `the provider’s output holds what looks like a credential, at ${credential}: it is not passed on`,
      );
}

/** The key of a call that changes something. The same run and input have the same key (C8). */
function idempotencyKeyOf(
  { run, requester }: CapabilityCaller,
  { capability, operation, input }: CapabilityRequest,
  account: string | null,
): string {
  return hashJson([run, requester.sender, capability, operation, account, input]);
}
