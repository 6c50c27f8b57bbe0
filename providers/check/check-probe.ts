import { randomBytes, randomUUID } from 'node:crypto';
import {
  answerLevels,
  bridgeAnswer,
  bridgeVersion,
  type BridgeMethod,
} from '../../src/features/capabilities/bridge-contract.ts';
import type { BridgeProvider } from '../../src/core/bridge-provider.ts';
import { runProgram } from '../../src/lib/processes/run-program.ts';
import {
  bridgeEnvironment,
  createIdentityTokens,
  type CallIdentity,
} from '../../src/features/capabilities/signed-call.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { hashJson, isShallow, parseJson } from '../../src/lib/json/json-values.ts';
import { jsonSchemaCheck } from '../../src/lib/json/json-schema-check.ts';
import { createEndWithUs } from '../../src/lib/processes/end-with-us.ts';
import { oneLine } from '../../src/lib/text/text.ts';

const deepest = 5;

/** What a provider did with one request. `fault`: nothing that the contract has a place for. */
export type Heard = Readonly<
  { ms: number } & (
    | { kind: 'result'; result: Readonly<Record<string, unknown>> }
    | { kind: 'error'; code: string; message: string }
    | { kind: 'fault'; found: string }
  )
>;

/** How the token of a call differs from what a host would send. */
export type OddToken = Readonly<{
  identity?: Partial<CallIdentity>;
  /** `stranger`: signed with another key; `past`: two minutes old; `future`: of two minutes from now. */
  signer?: 'stranger' | 'past' | 'future';
  alter?(token: string): string;
}>;

export type Probe = ReturnType<typeof createProbe>;

/** For whom calls of a check are made, where no person of the bot is named. */
export const nobody = 'terminal:capability-check';

/** Speaks to a provider as the host does, with a key made for this check, and can speak wrongly on purpose. */
export function createProbe(
  provider: BridgeProvider,
  options: Readonly<{
    env: Readonly<Record<string, string | undefined>>;
    user?: string;
    signal: AbortSignal;
  }>,
) {
  const { user = nobody, signal } = options;
  const seed = randomBytes(32);
  const tokens = createIdentityTokens(seed, systemClock);
  const signers = {
    good: tokens,
    stranger: createIdentityTokens(randomBytes(32), systemClock),
    past: createIdentityTokens(seed, { ...systemClock, now: () => systemClock.now() - 120_000 }),
    future: createIdentityTokens(seed, { ...systemClock, now: () => systemClock.now() + 120_000 }),
  };
  const env = bridgeEnvironment(options.env, tokens.publicJwk);
  // Anyone who has a provider checked is there to see what is left.
  const endWithUs = createEndWithUs({ warn: () => undefined });
  const slowest = { ms: 0, what: '' };

  return {
    provider,
    user,
    slowest: (): Readonly<{ ms: number; what: string }> => slowest,
    send,
    request,
    definitions: (params: object = {}) => send(request('definitions', params)),
    /** One signed call; `chatType` is that of the chat it is made in. */
    async call(
      method: Exclude<BridgeMethod, 'definitions'>,
      params: Readonly<Record<string, unknown>>,
      odd: OddToken = {},
    ): Promise<Heard> {
      return send(await signed(method, params, odd));
    },
    signed,
  };

  async function signed(
    method: Exclude<BridgeMethod, 'definitions'>,
    params: Readonly<Record<string, unknown>>,
    { identity = {}, signer, alter = (token) => token }: OddToken = {},
  ): Promise<string> {
    const text = (name: string): string | undefined => {
      const value = params[name];
      return typeof value === 'string' ? value : undefined;
    };
    const [operation, account] = [text('operation'), text('account_ref')];
    const token = await signers[signer ?? 'good'].issue({
      ...{ namespace: provider.namespace, method, user, chat: user, chatType: 'private' },
      ...{ skill: 'capability-check', run: randomUUID(), capability: text('capability_id') ?? '' },
      operation,
      account,
      inputHash: hashJson(method === 'invoke' ? params['input_data'] : params),
      ...identity,
    });
    return request(method, { ...params, context_token: alter(token) });
  }

  function request(method: string, params: object, version: number = bridgeVersion): string {
    const { namespace } = provider;
    return JSON.stringify({ version, id: randomUUID(), namespace, method, params });
  }

  /** Sends any text, and reads what comes back strictly. */
  async function send(input: string): Promise<Heard> {
    const began = performance.now();
    const { command, timeoutSeconds } = provider;
    const process = await runProgram({
      ...{ command, env, signal, endWithUs },
      input: `${input}\n`,
      timeoutMs: timeoutSeconds * 1_000,
    });
    const ms = performance.now() - began;
    const [, what = 'a broken request'] = /"method":"(\w+)"/.exec(input) ?? [];
    if (ms > slowest.ms) Object.assign(slowest, { ms, what });
    const fault = (found: string): Heard => ({ ms, kind: 'fault', found });
    if (process.ended !== 'exit') return fault(`${endings[process.ended]}${words(process.complaint)}`);
    if (process.code !== 0)
      return fault(`the process ended with exit code ${process.code}${words(process.complaint)}`);
    const text = process.output.toString('utf8');
    if (text.trim() === '') return fault('it wrote nothing on standard output');
    const parsed = parseJson(text);
    if (!isShallow(parsed, answerLevels)) return fault(`the answer has more than ${answerLevels} levels`);
    const answer = bridgeAnswer.safeParse(parsed);
    if (!answer.success) return fault(formProblem(text));
    const { id, result, error } = answer.data;
    if (id !== idOf(input))
      return fault(`the answer carries the id ${oneLine(id, 60)}, not that of the request`);
    if (error !== undefined) return { ms, kind: 'error', ...error };
    return { ms, kind: 'result', result: result ?? {} };
  }
}

/** In a few words, for a person. */
export function describeHeard(heard: Heard): string {
  if (heard.kind === 'fault') return heard.found;
  if (heard.kind === 'error') return `the error ${heard.code}: ${oneLine(heard.message, 200)}`;
  return `a result: ${oneLine(JSON.stringify(heard.result), 200)}`;
}

const endings = {
  absent: 'the command could not be started',
  signal: 'the process was ended by a signal',
  timeout: 'there was no answer in time',
  held: 'the process ended, and something that it started still held its output',
  'too much': 'it wrote more than 2 MB on standard output',
} as const;

function words(complaint: string): string {
  return complaint.trim() === '' ? '' : ` (on standard error: ${oneLine(complaint.trim(), 300)})`;
}

function formProblem(text: string): string {
  const seen = oneLine(text, 120);
  const line = text.split('\n').find((each) => parseJson(each) !== undefined);
  if (parseJson(text) === undefined && line !== undefined)
    return `there is something on standard output besides the one JSON object: ${seen}`;
  const parsed = parseJson(text);
  if (parsed === undefined) return `standard output is not one JSON object: ${seen}`;
  const { error } = bridgeAnswer.safeParse(parsed);
  const [issue] = error?.issues ?? [];
  return `the answer is out of form (${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? ''}): ${seen}`;
}

function idOf(input: string): unknown {
  const request = parseJson(input);
  return typeof request === 'object' && request !== null && 'id' in request ? request.id : undefined;
}

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

/** What was heard in place of one of these errors; undefined if it was one of them. */
export function unlessError(heard: Heard, ...codes: readonly string[]): string | undefined {
  return heard.kind === 'error' && (codes.length === 0 || codes.includes(heard.code))
    ? undefined
    : describeHeard(heard);
}

export function unlessResult(heard: Heard): string | undefined {
  return heard.kind === 'result' ? undefined : describeHeard(heard);
}

type Schema = Readonly<Record<string, unknown>>;

/** Plain data that a JSON Schema of an object takes, made of what it requires; undefined if that is not so simple. Throws for a schema that can't be used. */
export function sampleInput(schema: Schema): Readonly<Record<string, unknown>> | undefined {
  const made = sample(schema, 0);
  if (typeof made !== 'object' || made === null || Array.isArray(made)) return undefined;
  return jsonSchemaCheck(schema)(made) === undefined
    ? (made as Readonly<Record<string, unknown>>)
    : undefined;
}

function sample(schema: Schema, depth: number): unknown {
  const { examples } = schema;
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as unknown;
  if (Array.isArray(schema['enum'])) return schema['enum'][0] as unknown;
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type ?? 'object') {
    case 'string':
      return 'check'.repeat(Math.max(1, Math.ceil(numberOf(schema['minLength'], 1) / 5)));
    case 'integer':
    case 'number':
      return Math.max(1, numberOf(schema['minimum'], 1));
    case 'boolean':
      return false;
    case 'array':
      return numberOf(schema['minItems'], 0) > 0 && depth < deepest && isSchema(schema['items'])
        ? [sample(schema['items'], depth + 1)]
        : [];
    case 'object': {
      const properties = isSchema(schema['properties']) ? schema['properties'] : {};
      const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
      if (depth >= deepest) return {};
      return Object.fromEntries(
        required.map((name) => {
          const property = properties[name];
          return [name, isSchema(property) ? sample(property, depth + 1) : 'check'];
        }),
      );
    }
    default:
      return null;
  }
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
