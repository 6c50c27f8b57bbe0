import { randomBytes, randomUUID } from 'node:crypto';
import { systemClock } from '../../lib/clock.ts';
import { isShallow } from '../../lib/json/is-shallow.ts';
import { parseJson } from '../../lib/json/parse-json.ts';
import { oneLine } from '../../lib/text/text.ts';
import { createEndWithUs } from '../../lib/processes/end-with-us.ts';
import { answerLevels, bridgeAnswer, bridgeVersion, type BridgeMethod } from '../bridge-contract.ts';
import { bridgeEnvironment } from '../bridge-environment.ts';
import type { BridgeProvider } from '../call-bridge.ts';
import { hashJson } from '../../lib/json/canonical-json.ts';
import { createIdentityTokens, type CallIdentity } from '../identity-token.ts';
import { runBridgeProcess } from '../run-bridge-process.ts';

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
    past: createIdentityTokens(seed, { now: () => systemClock.now() - 120_000 }),
    future: createIdentityTokens(seed, { now: () => systemClock.now() + 120_000 }),
  };
  const env = bridgeEnvironment(options.env, tokens.publicJwk);
  // Whoever has a provider checked is there to see what is left.
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
      ...(operation === undefined ? {} : { operation }),
      ...(account === undefined ? {} : { account }),
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
    const process = await runBridgeProcess({
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
