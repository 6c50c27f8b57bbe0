import {
  bridgeResults,
  type BridgeResults,
  type CapabilityDefinition,
} from '../../src/features/capabilities/bridge-contract.ts';
import type { BridgeProvider } from '../../src/core/bridge-provider.ts';
import { checkNames, checkOperations, type CheckedPerson } from './check-operations.ts';
import {
  createProbe,
  describeHeard,
  skipped,
  verdict,
  unlessError,
  unlessResult,
  type Probe,
  type CheckResult,
  type Rule,
} from './check-probe.ts';
import { checkTokens, harmlessCall } from './check-tokens.ts';
import { checkDefinitions } from '../../src/features/capabilities/definitions.ts';
import { jsonSchemaCheck } from '../../src/lib/json/json-schema-check.ts';

const answers: Rule = {
  what: 'definitions are answered with one JSON object, exit code 0',
  why: 'the bot offers what is defined here, and nothing of a provider that it can not understand',
  fix: 'write exactly {"version":1,"id":…,"result":{"definitions":[…]}} to standard output, words for people to standard error, and end with 0',
};

const ids: Rule = {
  what: 'every capability is called NAMESPACE.NAME, once',
  why: 'a provider speaks for its own namespace only',
  fix: 'name capabilities after the namespace that config gives the provider',
};

const schemas: Rule = {
  what: 'input and output schemas are JSON Schemas of objects that the bot can hold data to',
  why: 'what a model sends and what comes back is checked against them',
  fix: 'use type, properties, required, enum, items and the like; no not, if/then or external $ref',
};

const long: Rule = {
  what: 'a request of 300 kB is read to its end, and params it does not know are ignored',
  why: 'an input may be long, and later versions of the bot may say more',
  fix: 'read standard input until it ends, then parse it',
};

const version: Rule = {
  what: 'another version is refused by an error',
  why: 'a version that it does not know may mean something else by the same words',
  fix: 'answer a version other than 1 with the error capability_invalid_input, under the id of the request',
};

const method: Rule = {
  what: 'an unknown method is refused by an error',
  why: 'a fault would look as if the whole provider were down',
  fix: 'answer a method that it does not know with the error capability_invalid_input, and end with 0',
};

const broken = (what: string): Rule => ({
  what: `${what} ends the process without a result`,
  why: 'a request that was cut must not be taken for another one',
  fix: 'end with an exit code other than 0, and say why on standard error',
});

const begins: Rule = {
  what: 'auth_begin gives an address and a flow',
  why: 'a person can link an account by nothing else',
  fix: 'answer {auth_url, flow_type, flow_state, …} as docs/capabilities.md says; an address is http or https',
};

const proven: Rule = {
  what: 'the address of an authorization-code flow carries a state, and a PKCE challenge (S256)',
  why: 'without a state somebody could have a person link an account that is not theirs; without PKCE a code is worth something to anyone who sees it',
  fix: 'put fresh state, code_challenge and code_challenge_method=S256 into auth_url, and keep the verifier with the flow',
};

const code: Rule = {
  what: 'a device flow gives a user_code',
  why: 'the person types it at auth_url',
  fix: 'answer user_code and poll_interval_seconds with flow_type device_code',
};

const foreign: Rule = {
  what: 'somebody else can not go on with the flow',
  why: "one person's account would be linked to another person",
  fix: 'keep the user (sub of the token) with the flow, and answer others with capability_auth_flow_invalid',
};

const invented: Rule = {
  what: 'an invented code links nothing',
  why: 'a code has to come from where the account is',
  fix: 'exchange the code at the service, and answer with one of the capability_auth_… errors where it is refused',
};

const wrongState: Rule = {
  what: 'a callback with another state is refused',
  why: 'it belongs to another flow, perhaps of somebody else',
  fix: 'compare state with the one the flow began with; answer capability_auth_state_mismatch',
};

const pending: Rule = {
  what: 'auth_poll says that nobody has confirmed yet',
  why: 'the bot continues asking until there is an account, or an error',
  fix: 'answer {"status":"pending","retry_after_seconds":…} until the person has confirmed',
};

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
  const probe = createProbe(provider, { env, signal, user });
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

/** Holds a provider to its auth flows (C6), without anybody confirming anything. Leaves a flow of nobody behind. */
async function checkAuth(
  probe: Probe,
  { id: capability_id, allowed_chat_types }: CapabilityDefinition,
  report: (result: CheckResult) => void,
): Promise<void> {
  const identity = { chatType: allowed_chat_types[0] ?? 'private' } as const;
  const heard = await probe.call('auth_begin', { capability_id, account_hint: null }, { identity });
  if (heard.kind === 'error' && heard.code === 'capability_backend_unavailable')
    return report(skipped('the auth flows', `auth_begin could not be tried: ${heard.message}`));
  const begun = heard.kind === 'result' ? bridgeResults.auth_begin.safeParse(heard.result) : undefined;
  const [issue] = begun?.error?.issues ?? [];
  const form = issue === undefined ? describeHeard(heard) : `${issue.path.join('.')}: ${issue.message}`;
  report(verdict(begins, begun?.data === undefined ? form : undefined));
  if (begun?.data === undefined) return;
  const { flow_type, flow_state, user_code, auth_url } = begun.data;
  const polled = { capability_id, flow_state };
  const completed = {
    ...{ ...polled, authorization_code: 'invented', raw_callback_url: null },
    state: new URL(auth_url).searchParams.get('state'),
  };
  const strange = { identity: { ...identity, user: 'terminal:somebody-else' } };
  if (flow_type === 'device_code') {
    report(verdict(code, user_code === undefined ? 'there is no user_code' : undefined));
    report(verdict(foreign, unlessError(await probe.call('auth_poll', polled, strange))));
    const first = await probe.call('auth_poll', polled, { identity });
    const waits =
      first.kind === 'result' && first.result['status'] === 'pending'
        ? bridgeResults.auth_poll.safeParse(first.result).error?.message
        : describeHeard(first);
    return report(verdict(pending, waits));
  }
  report(verdict(proven, unproven(begun.data)));
  report(verdict(foreign, unlessError(await probe.call('auth_complete', completed, strange))));
  const other = { ...completed, state: 'another-state' };
  const mismatch = await probe.call('auth_complete', other, { identity });
  report(verdict(wrongState, unlessError(mismatch, 'capability_auth_state_mismatch')));
  report(verdict(invented, unlessError(await probe.call('auth_complete', completed, { identity }))));
}

function unproven({ auth_url, expected_callback_state }: BridgeResults['auth_begin']): string | undefined {
  const { searchParams } = new URL(auth_url);
  const has = (name: string): boolean => (searchParams.get(name) ?? '') !== '';
  if (!has('state')) return 'there is no state in auth_url';
  if (!has('code_challenge') || searchParams.get('code_challenge_method') !== 'S256')
    return 'there is no code_challenge with code_challenge_method=S256 in auth_url';
  return expected_callback_state === undefined || expected_callback_state === searchParams.get('state')
    ? undefined
    : 'expected_callback_state is another one than in auth_url';
}

/** Holds a provider to the form of requests and answers (C1, C2). `definitions` is there where they could be read. */
async function checkFraming(
  probe: Probe,
  report: (result: CheckResult) => void,
): Promise<readonly CapabilityDefinition[] | undefined> {
  const heard = await probe.definitions();
  const parsed = heard.kind === 'result' ? bridgeResults.definitions.safeParse(heard.result) : undefined;
  const [issue] = parsed?.error?.issues ?? [];
  const form = issue === undefined ? undefined : `${issue.path.map(String).join('.')}: ${issue.message}`;
  report(verdict(answers, unlessResult(heard) ?? form));
  if (parsed?.data === undefined) return undefined;
  const { definitions } = parsed.data;
  report(verdict(ids, wrongIds(definitions, probe.provider.namespace)));
  report(verdict(schemas, wrongSchemas(definitions)));
  report(verdict(long, unlessResult(await probe.definitions({ padding: 'x'.repeat(300_000) }))));
  report(verdict(version, unlessError(await probe.send(probe.request('definitions', {}, 2)))));
  report(verdict(method, unlessError(await probe.send(probe.request('forget_everything', {})))));
  for (const [what, text] of [
    ['half a request', probe.request('definitions', {}).slice(0, 40)],
    ['an empty request', ''],
  ] as const) {
    const ended = await probe.send(text);
    const hung = ended.kind === 'fault' && ended.found.startsWith('there was no answer in time');
    report(verdict(broken(what), ended.kind !== 'result' && !hung ? undefined : describeHeard(ended)));
  }
  return definitions;
}

function wrongIds(definitions: readonly CapabilityDefinition[], namespace: string): string | undefined {
  const all = definitions.map(({ id }) => id);
  const wrong = all.filter((id, index) => !id.startsWith(`${namespace}.`) || all.indexOf(id) !== index);
  return wrong.length === 0 ? undefined : wrong.join(', ');
}

function wrongSchemas(definitions: readonly CapabilityDefinition[]): string | undefined {
  const wrong = definitions.flatMap(({ id, operations }) =>
    Object.entries(operations).flatMap(([name, { input_schema, output_schema }]) =>
      [input_schema, output_schema].flatMap((schema, index) => {
        const problem = schemaProblem(schema);
        return problem === undefined ? [] : [`${id} ${name} ${index === 0 ? 'input' : 'output'}: ${problem}`];
      }),
    ),
  );
  return wrong.length === 0 ? undefined : wrong.slice(0, 5).join('; ');
}

/** What is wrong with a schema; undefined if data can be held to it. */
function schemaProblem(schema: Readonly<Record<string, unknown>>): string | undefined {
  if ('type' in schema && schema['type'] !== 'object') return 'its type is not object';
  try {
    jsonSchemaCheck(schema);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
