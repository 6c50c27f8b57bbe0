import type { Clock } from '../../lib/clock.ts';
import type { CapabilityDefinition, CapabilityOperation } from './bridge-contract.ts';
import { failure, type CapabilityOutcome } from './call-bridge.ts';
import type { BridgeProvider } from '../../core/bridge-provider.ts';
import { namespaceOf } from './configured-providers.ts';
import { jsonSchemaCheck, type SchemaCheck } from '../../lib/json/json-schema-check.ts';
import { untilAborted } from '../../lib/async/on-abort.ts';

export type CheckedOperation = Omit<CapabilityOperation, 'output_schema'> &
  Readonly<{ checkInput: SchemaCheck; checkOutput: SchemaCheck }>;

export type Capability = Omit<CapabilityDefinition, 'operations'> &
  Readonly<{ operations: ReadonlyMap<string, CheckedOperation> }>;

/** Returns what a provider offers, by the capability's id. */
export type Definitions = (
  provider: BridgeProvider,
  signal: AbortSignal,
) => Promise<CapabilityOutcome<ReadonlyMap<string, Capability>>>;

const keptMs = 5 * 60_000;

type Kept = Readonly<{
  at: number;
  known: Promise<CapabilityOutcome<ReadonlyMap<string, Capability>>>;
}>;

/** Asks providers what they offer, and keeps each answer for five minutes (C1). */
export function createDefinitions(options: {
  fetch(
    provider: BridgeProvider,
    signal: AbortSignal,
  ): Promise<CapabilityOutcome<Readonly<{ definitions: readonly CapabilityDefinition[] }>>>;
  clock: Clock;
}): Definitions {
  const { fetch, clock } = options;
  const kept = new Map<string, Kept>();

  async function ask(provider: BridgeProvider): Promise<CapabilityOutcome<ReadonlyMap<string, Capability>>> {
    // Several callers share the answer, so none of their signals aborts it; its own timeout does.
    const answer = await fetch(provider, new AbortController().signal);
    return answer.ok ? checkDefinitions(provider.namespace, answer.value.definitions) : answer;
  }

  return async (provider, signal) => {
    const key = JSON.stringify([provider.namespace, provider.command]);
    const found = kept.get(key);
    if (found !== undefined && clock.now() - found.at < keptMs) return untilAborted(found.known, signal);
    const known = ask(provider);
    const entry = { at: clock.now(), known };
    kept.set(key, entry);
    const drop = (): void => {
      if (kept.get(key) === entry) kept.delete(key);
    };
    known.then((outcome) => outcome.ok || drop(), drop);
    return untilAborted(known, signal);
  };
}

/** Checks what a provider offers: each capability once, in the provider's namespace, with usable schemas. */
export function checkDefinitions(
  namespace: string,
  definitions: readonly CapabilityDefinition[],
): CapabilityOutcome<ReadonlyMap<string, Capability>> {
  const invalid = (why: string) =>
    failure('capability_invalid_output', `the provider of ${namespace} describes ${why}`);
  const checked = new Map<string, Capability>();
  for (const { operations, ...definition } of definitions) {
    const { id } = definition;
    if (namespaceOf(id) !== namespace) return invalid(`${id}, which is not in its namespace`);
    if (checked.has(id)) return invalid(`${id} twice`);
    const byName = new Map<string, CheckedOperation>();
    for (const [name, { output_schema, ...operation }] of Object.entries(operations)) {
      try {
        byName.set(name, {
          ...operation,
          checkInput: jsonSchemaCheck(operation.input_schema),
          checkOutput: jsonSchemaCheck(output_schema),
        });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return invalid(`a schema of ${id} ${name} that can't be used: ${reason}`);
      }
    }
    checked.set(id, { ...definition, operations: byName });
  }
  return { ok: true, value: checked };
}
